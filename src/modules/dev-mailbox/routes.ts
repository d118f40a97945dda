import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { buildPageLinks, readPageRequest } from '../../http/requests/list-query.ts'
import { buildPublicUrl } from '../../http/problem.ts'
import { listPage, messagePage, policy } from './page.ts'
import { presentCaptured, presentCapturedWhole } from './present.ts'
import { channelOf, findCaptured, listCaptured, type MailboxReader } from './queries.ts'

const sizes = { usual: 50, most: 500 }

const numberOf = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null

async function list(c: AppContext, reader: MailboxReader) {
  const url = buildPublicUrl(c.env.PUBLIC_URL.replace(/(?<!\/)\/+$/, ''), c.req.url)
  const { channel, to = '', page, page_size, cursor } = c.req.query()
  const filter = { channel: channelOf(channel), to: to.slice(0, 254) }
  const size = Math.min(numberOf(page_size) ?? sizes.usual, sizes.most)
  const asked = readPageRequest({ page: numberOf(page) ?? 1, page_size: size, cursor }, url)
  const found = await listCaptured(reader, filter, asked)
  return { found, filter, links: buildPageLinks(found, url) }
}

/** `/dev/outbox`: the messages that the capture gateways keep, as pages and as JSON. */
export function devMailbox(open: (c: AppContext) => MailboxReader): Hono<AppEnv> {
  const pages = new Hono<AppEnv>({ strict: false })
  pages.use('/dev/outbox*', async (c, next) => {
    await next()
    c.header('cache-control', 'no-store')
    c.header('content-security-policy', policy)
  })
  pages.get('/dev/outbox', async (c) => {
    const { found, filter, links } = await list(c, open(c))
    return c.html(listPage(found, links, filter))
  })
  pages.get('/dev/outbox.json', async (c) => {
    const { found, links } = await list(c, open(c))
    return c.json({ count: found.count, ...links, results: found.rows.map(presentCaptured) })
  })
  pages.get('/dev/outbox/:id', async (c) => {
    const [id, isJson] = [c.req.param('id').replace(/\.json$/, ''), c.req.param('id').endsWith('.json')]
    const row = await findCaptured(open(c), id)
    return isJson ? c.json(presentCapturedWhole(row)) : c.html(messagePage(row))
  })
  return pages
}
