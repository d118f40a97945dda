import { buildOperationPath } from '../document/operation-page.ts'
import { type Operation, tags } from '../operations/operation.ts'
import { buildErrorPath } from '../problem.ts'
import { listCodes } from './error-pages.ts'

const introduction = `# Event Commerce Management Service

> An HTTP API for organisations that run events: editions, orders, tickets, customers, refunds, imports, consents, segments,
> e-mail and SMS campaigns, and webhooks.

Send \`Authorization: Bearer <token>\`. Lists answer \`{count, next, previous, results}\`: follow \`next\`. Errors are RFC 9457
problem documents with a stable \`code\`. An \`Idempotency-Key\` makes each change safe to repeat, and \`If-Match\` with an
\`ETag\` prevents lost updates. \`GET /v1/auth/user-info\` says who you are and which organisations and editions you see.`

const describeMcp = (address: string): string =>
  `Agents can connect to the MCP server at ${address} (Streamable HTTP) with the same token. Its tools search, describe and
call the operations below.`

/** The first sentence of a text, as one line. */
const takeSentence = (text: string): string => text.replaceAll('\n', ' ').split(/(?<=\.) /)[0] ?? text

/** The text of `/llms.txt`, in the form of llmstxt.org. */
export function buildIndex(operations: readonly Operation[], address: (path: string) => string): string {
  const groups = tags.flatMap((tag) => {
    const lines = operations
      .filter((operation) => operation.tag === tag)
      .map(
        ({ id, method, path, summary }) =>
          `- [${id}](${address(buildOperationPath(id))}): ${summary} (\`${method.toUpperCase()} ${path}\`)`,
      )
    return lines.length ? [`## ${tag}`, lines.join('\n')] : []
  })
  const errors = listCodes().map(
    ({ code, cause }) => `- [${code}](${address(`${buildErrorPath(code)}.md`)}): ${takeSentence(cause)}`,
  )
  return `${[
    introduction,
    describeMcp(address('/mcp')),
    '## Reference',
    `- [OpenAPI document](${address('/openapi.json')}): all operations, schemas and webhook events`,
    ...groups,
    '## Optional',
    errors.join('\n'),
  ].join('\n\n')}\n`
}
