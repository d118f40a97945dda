import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { sweepCapturedMessages } from '../../src/modules/dev-mailbox/jobs.ts'
import { call, callWith, readLinkPath } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { anEmail, anSms } from '../support/outbound.ts'
import { db } from '../support/seeding/rows.ts'

const ctx = createContextAt(Date.parse('2026-06-01T08:00:00Z'))
const look = (path: string) => call(path, { token: null })
const key = () => crypto.randomUUID()

async function listIds(results: Promise<{ ok: boolean; providerId?: string }[]>): Promise<string[]> {
  return (await results).map((result) => result.providerId ?? 'none')
}

describe('/dev/outbox', () => {
  const mark = crypto.randomUUID().slice(0, 8)
  const guests = Array.from({ length: 5 }, (_, index) => `${mark}-${index}@example.com`)
  let ids: string[]
  beforeAll(async () => {
    const mails = guests.map((address) =>
      anEmail({
        to: { name: 'Guest', address },
        replyTo: 'help@nordlys.example',
        headers: { 'List-Unsubscribe': '<https://api.example.test/u/1>' },
      }),
    )
    ids = await listIds(ctx.email.send(mails, key()))
    await ctx.sms.send([anSms({ to: '+4528123456', body: `Code ${mark}` })], key())
  })

  it('lists the captured messages, newest first, page by page', async () => {
    const first = await look(`/dev/outbox.json?to=${mark}&page_size=2`)
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ count: 5, previous: null })
    const second = await look(readLinkPath(first.body.next))
    const messages = [...first.body.results, ...second.body.results]
    expect(messages.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 4))
    expect(messages[0]).toEqual({
      id: ids[4],
      channel: 'email',
      reference: expect.any(String),
      from: 'Nordlys <tickets@nordlys.example>',
      to: `Guest <${guests[4]}>`,
      subject: 'Your tickets',
      created: '2026-06-01T08:00:00.000Z',
    })
  })

  it('filters by channel and by a part of the recipient, without regard to case', async () => {
    const sms = await look('/dev/outbox.json?channel=sms&to=%2B4528123456')
    expect(sms.body.results).toMatchObject([{ channel: 'sms', to: '+4528123456' }])
    const one = await look(`/dev/outbox.json?to=${(guests[1] ?? '').toUpperCase()}`)
    expect(one.body).toMatchObject({ count: 1, results: [{ id: ids[1] }] })
  })

  it('shows a complete message, as a page and as JSON', async () => {
    const json = await look(`/dev/outbox/${ids[0]}.json`)
    expect(json.body).toMatchObject({
      id: ids[0],
      html: '<p>Welcome</p>',
      text: 'Welcome',
      reply_to: 'help@nordlys.example',
      headers: { 'List-Unsubscribe': '<https://api.example.test/u/1>' },
    })
    const page = await look(`/dev/outbox/${ids[0]}`)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.text).toContain('srcdoc="&lt;base target=&quot;_blank&quot;&gt;&lt;p&gt;Welcome&lt;/p&gt;"')
  })

  it('does not exist in production, where mail is sent', async () => {
    for (const path of ['/dev/outbox', '/dev/outbox.json', `/dev/outbox/${ids[0]}`, `/dev/outbox/${ids[0]}.json`]) {
      const reply = await callWith({ ENVIRONMENT: 'production' }, path, { token: null })
      expect([path, reply.status, reply.body.code]).toEqual([path, 404, 'not_found'])
      expect(reply.text).not.toContain(mark)
    }
  })

  it('says that a message no longer exists', async () => {
    expect((await look('/dev/outbox/cap_none')).status).toBe(404)
    expect((await look('/dev/outbox.json?page=99999')).body.code).toBe('invalid_page')
  })
})

describe('a hostile message', () => {
  const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`
  it('is shown without harm in the list and on its page', async () => {
    const [id] = await listIds(
      ctx.email.send(
        [
          anEmail({
            from: { name: evil, address: 'a@example.com' },
            to: { name: evil, address: 'evil@example.com' },
            subject: evil,
            html: `<script>alert(1)</script>"><script>alert(2)</script>`,
            text: evil,
            headers: { 'X-Evil': evil },
          }),
        ],
        key(),
      ),
    )
    for (const path of ['/dev/outbox?to=evil@example.com', `/dev/outbox/${id}`]) {
      const { text, headers } = await look(path)
      expect(text).not.toMatch(/<script|<img/i)
      expect(text).toContain('&lt;script&gt;')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('content-security-policy')).not.toContain('script-src')
      expect(text).not.toMatch(/(src|href)="(https?:)?\/\/(?!api\.example)/)
    }
    const { text } = await look(`/dev/outbox/${id}`)
    expect(text).toMatch(/sandbox="allow-popups allow-popups-to-escape-sandbox"/)
  })

  it('is shown without harm in a filter', async () => {
    const { text } = await look(`/dev/outbox?to=${encodeURIComponent(evil)}`)
    expect(text).not.toMatch(/<script|<img/i)
  })
})

describe('the capture gateways', () => {
  it('store a call that is repeated with the same key once, and return the same ids', async () => {
    const mails = [anEmail(), anEmail()]
    const repeatedKey = key()
    const [first, second] = [
      await listIds(ctx.email.send(mails, repeatedKey)),
      await listIds(ctx.email.send(mails, repeatedKey)),
    ]
    expect(second).toEqual(first)
    expect(new Set(first).size).toBe(2)
    const { body } = await look(`/dev/outbox.json?to=${mails[0]?.to.address}`)
    expect(body.count).toBe(1)
  })

  it('refuse another message with a used key', async () => {
    const repeatedKey = key()
    await ctx.email.send([anEmail()], repeatedKey)
    expect(await ctx.email.send([anEmail()], repeatedKey)).toMatchObject([{ ok: false, kind: 'unknown' }])
  })

  it('keep only the newest 2,000 messages', async () => {
    await db.batch([
      sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 2100)
        insert into captured_messages (id, channel, call_key, position, reference, sender, recipient, body, created_at)
        select 'cap_sweep' || n, 'sms', 'sweep', n, '', '', '', '', 0 from numbers`,
    ])
    await sweepCapturedMessages(ctx)
    const rows = await db.all(sql<{ id: string }>`select id from captured_messages order by seq`)
    expect(rows).toHaveLength(2000)
    expect(rows.at(-1)?.id).toBe('cap_sweep2100')
  })
})
