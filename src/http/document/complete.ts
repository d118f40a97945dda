import answers from './examples.json' with { type: 'json' }
import type { Operation } from '../operations/operation.ts'
import { shareComponents } from './components.ts'
import { hasETag, headers, withHeaders } from './headers.ts'
import { withParameters } from './parameters.ts'
import type { Document, Documented } from './shapes.ts'

const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }

/** Written by `npm run examples` from real answers. */
const examples: Readonly<Record<string, unknown>> = answers

function withExample({ id, status }: Operation, { responses }: Documented): void {
  const media = responses[status]?.content?.['application/json']
  if (media && Object.hasOwn(examples, id)) media.example ??= examples[id]
}

function withCommonAnswers(operation: Operation, { responses }: Documented): void {
  if (operation.method === 'get' && hasETag(operation))
    responses['304'] = { description: 'The resource is as one of the ETags in `If-None-Match` says.' }
  responses['405'] = { description: '`method_not_allowed`', content: problem }
}

/** Adds to a generated document the parts that are the same for every operation. */
export function complete(generated: object, operations: readonly Operation[]): void {
  const document = generated as Document
  for (const operation of operations) {
    const documented = document.paths[operation.path]?.[operation.method]
    if (!documented) continue
    // The document states it once for all operations.
    delete documented.security
    withParameters(operation, documented)
    withCommonAnswers(operation, documented)
    withExample(operation, documented)
    withHeaders(operation, documented)
  }
  document.components['headers'] = headers
  shareComponents(document)
  document.info.license = { name: 'MIT', identifier: 'MIT' }
}
