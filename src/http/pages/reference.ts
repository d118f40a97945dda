import { type Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { html } from 'hono/html'
import { notFound } from '../../domain/errors.ts'
import { findNearestName } from '../../domain/text/nearest.ts'
import { buildOperationPath, describeOperation, type OperationDocument } from '../document/operation-page.ts'
import type { AppContext, AppEnv } from '../env.ts'
import type { Operation } from '../operations/operation.ts'
import { buildAddress } from '../problem.ts'
import { codeMarkdown, layout, codePage, indexPage } from './error-pages.ts'
import { type Markup, pagePolicy } from './html-page.ts'
import { buildIndex } from './llms-index.ts'

interface StartLink {
  path: string
  label: string
}

const name = 'Event Commerce Management Service'

const entries = {
  console: { path: '/console', label: 'The console, where people work' },
  docs: { path: '/docs', label: 'The documentation of every operation' },
  errors: { path: '/docs/errors', label: 'What each error means and how to fix it' },
  llms: { path: '/llms.txt', label: 'The documentation for programs that read, in Markdown' },
  openapi: { path: '/openapi.json', label: 'The OpenAPI document' },
  health: { path: '/healthz', label: 'The health of the service' },
} as const satisfies Record<string, StartLink>

const outbox = { path: '/dev/outbox', label: 'Messages that were stored instead of sent' } as const satisfies StartLink

/** Links to all documents, and to the dev mailbox if there is one. */
export const startLinks = (hasOutbox: boolean): Record<string, StartLink> =>
  hasOutbox ? { ...entries, outbox } : entries

const startDocument = (links: Record<string, StartLink>, address: (path: string) => string) => ({
  name,
  ...Object.fromEntries(Object.entries(links).map(([key, { path }]) => [key, address(path)])),
})

export const startPage = (links: Record<string, StartLink>): Markup =>
  layout(
    name,
    html`<h1>${name}</h1>
      <p>
        An HTTP API for organisations that run events: editions, orders, tickets, customers, refunds, imports, consents,
        segments, e-mail and SMS campaigns, and webhooks. Programs call it under <code>/v1</code> with an access token.
      </p>
      <ul class="codes plain">
        ${Object.values(links).map(
          ({ path, label }) =>
            html`<li>
              <a href="${path}"><code>${path}</code></a
              ><span>${label}</span>
            </li>`,
        )}
      </ul>`,
  )

async function sendPage(c: Context<AppEnv>, page: Markup, headers: Record<string, string> = {}): Promise<Response> {
  return c.html(page, 200, {
    'cache-control': 'public, max-age=3600',
    'content-security-policy': await pagePolicy(),
    ...headers,
  })
}

const sendMarkdown = (c: AppContext, text: string, type = 'text/markdown'): Response =>
  c.body(text, 200, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=300' })

const markdownEnding = '.md'

export interface Reference {
  isDevelopment: (c: AppContext) => boolean
  operations: readonly Operation[]
  loadDocument: () => OperationDocument
}

/** Serves `/llms.txt`, and a page in Markdown for each operation. */
function addMarkdownRoutes(pages: Hono<AppEnv>, { operations, loadDocument }: Reference, addressFor: AddressFor): void {
  pages.get('/llms.txt', (c) => sendMarkdown(c, buildIndex(operations, addressFor(c)), 'text/plain'))
  pages.get('/docs/operations/:page', (c) => {
    const page = c.req.param('page')
    const id = page.slice(0, -markdownEnding.length)
    const operation = page.endsWith(markdownEnding) ? operations.find((one) => one.id === id) : undefined
    if (operation) return sendMarkdown(c, describeOperation(operation, loadDocument(), { address: addressFor(c) }))
    const nearestId = findNearestName(
      page.replace(/\.md$/, ''),
      operations.map((one) => one.id),
    )
    throw nearestId === null ? notFound() : notFound(`Not found. Did you mean \`${buildOperationPath(nearestId)}\`?`)
  })
}

type AddressFor = (c: AppContext) => (path: string) => string

/** Serves `/` with links to all documents, `/docs/errors` with the meaning of each error, and the same in Markdown. */
export function buildReferenceRoutes(reference: Reference): Hono<AppEnv> {
  const pages = new Hono<AppEnv>({ strict: false })
  const addressFor: AddressFor = (c) => (path) => buildAddress(c, path)
  addMarkdownRoutes(pages, reference, addressFor)
  pages.get('/', async (c) => {
    const links = startLinks(reference.isDevelopment(c))
    const vary = { vary: 'accept' }
    const supports = ['application/json', 'text/html']
    const type = accepts(c, { header: 'Accept', supports, default: 'application/json' })
    if (type === 'text/html') return sendPage(c, startPage(links), vary)
    return c.json(startDocument(links, addressFor(c)), 200, { 'cache-control': 'public, max-age=300', ...vary })
  })
  pages.get('/docs/errors', (c) => sendPage(c, indexPage(), { 'cache-control': 'public, max-age=300' }))
  pages.get('/docs/errors/:code', (c) => {
    const code = c.req.param('code')
    const markdown = code.endsWith(markdownEnding)
      ? codeMarkdown(code.slice(0, -markdownEnding.length), addressFor(c))
      : null
    if (markdown !== null) return sendMarkdown(c, markdown)
    const page = codePage(code, addressFor(c))
    if (page === null) throw notFound()
    return sendPage(c, page)
  })
  return pages
}
