import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { buildPublicUrl } from '../../http/problem.ts'
import { buildPageLinks, readPageRequest } from '../../http/requests/list-query.ts'
import { listCaptured } from './list.ts'
import { renderListPage, renderMessagePage, mailboxPolicy } from './page.ts'
import { presentItem, presentCapturedMessage } from './present.ts'
import { findCaptured, type MailboxReader, parseChannel } from './queries.ts'

const defaultPageSize = 50
const maxPageSize = 500

const parsePositiveInt = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null

async function loadPage(c: AppContext, reader: MailboxReader) {
  const url = buildPublicUrl(c.env.PUBLIC_URL ?? '', c.req.url)
  const { channel, to = '', page, page_size, cursor } = c.req.query()
  const filter = { channel: parseChannel(channel), to: to.slice(0, 254) }
  const size = Math.min(parsePositiveInt(page_size) ?? defaultPageSize, maxPageSize)
  const query = { ...filter, page: parsePositiveInt(page) ?? 1, page_size: size, cursor }
  const list = { url, organizationIds: null, query }
  const messages = await listCaptured(reader, readPageRequest(list), filter)
  return { messages, filter, links: buildPageLinks(messages, list) }
}

/** `/dev/outbox` shows the messages that the capture gateways stored, as pages and as JSON. */
export function buildDevMailboxRoutes(open: (c: AppContext) => MailboxReader): Hono<AppEnv> {
  const pages = new Hono<AppEnv>({ strict: false })
  pages.use('/dev/outbox*', async (c, next) => {
    await next()
    c.header('cache-control', 'no-store')
    c.header('content-security-policy', mailboxPolicy)
  })
  pages.get('/dev/outbox', async (c) => {
    const { messages, filter, links } = await loadPage(c, open(c))
    return c.html(renderListPage(messages, links, filter))
  })
  pages.get('/dev/outbox.json', async (c) => {
    const { messages, links } = await loadPage(c, open(c))
    return c.json({ count: messages.count, ...links, results: messages.rows.map(presentItem) })
  })
  pages.get('/dev/outbox/:id', async (c) => {
    const id = c.req.param('id')
    const row = await findCaptured(open(c), id.replace(/\.json$/, ''))
    return id.endsWith('.json') ? c.json(presentCapturedMessage(row)) : c.html(renderMessagePage(row))
  })
  return pages
}
