import { type Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { notFound } from '../domain/errors.ts'
import type { AppContext, AppEnv } from './env.ts'
import { codePage, indexPage } from './pages/error-pages.ts'
import type { Markup } from './pages/html-page.ts'
import { pagePolicy } from './pages/page-style.ts'
import { buildAddress } from './public-address.ts'
import { startDocument, startLinks, startPage } from './pages/start-page.ts'

async function answerPage(c: Context<AppEnv>, page: Markup, headers: Record<string, string> = {}): Promise<Response> {
  return c.html(page, 200, {
    'cache-control': 'public, max-age=3600',
    'content-security-policy': await pagePolicy(),
    ...headers,
  })
}

/** `/` with links to all documents, and `/docs/errors` with the meaning of each error. */
export function reference(isDevelopment: (c: AppContext) => boolean): Hono<AppEnv> {
  const pages = new Hono<AppEnv>({ strict: false })
  const addressFor = (c: AppContext) => (path: string) => buildAddress(c.env.PUBLIC_URL, c.req.url, path)
  pages.get('/', async (c) => {
    const links = startLinks(isDevelopment(c))
    const vary = { vary: 'accept' }
    const supports = ['application/json', 'text/html']
    const type = accepts(c, { header: 'Accept', supports, default: 'application/json' })
    if (type === 'text/html') return answerPage(c, startPage(links), vary)
    return c.json(startDocument(links, addressFor(c)), 200, { 'cache-control': 'public, max-age=300', ...vary })
  })
  pages.get('/docs/errors', (c) => answerPage(c, indexPage(), { 'cache-control': 'public, max-age=300' }))
  pages.get('/docs/errors/:code', (c) => {
    const page = codePage(c.req.param('code'), addressFor(c))
    if (page === null) throw notFound()
    return answerPage(c, page)
  })
  return pages
}
