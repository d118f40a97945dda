import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { emailMessages } from '../../../src/db/schema/email-messages.ts'
import { suppressions } from '../../../src/db/schema/suppressions.ts'
import { insert, update } from '../../../src/db/write.ts'
import { createFailure, type SendFailure } from '../../../src/domain/messaging/messaging.ts'
import type { OutboundEmail } from '../../../src/gateways/email/email.ts'
import { sweepEmails } from '../../../src/modules/transactional-emails/jobs.ts'
import { createProvider, createReceiptEngine, listReceipts, sell } from '../../support/receipts.ts'
import { seedVerified } from '../../support/seeding/messaging/sender-domains.ts'
import { db } from '../../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts, type Shop } from '../../support/seeding/sales/orders.ts'

const minute = 60_000
const hour = 60 * minute
beforeEach(() => db.all(sql`delete from transactional_emails`))

async function seedReceipts(count = 1, options = { deduplicates: true }) {
  const shop = await seedShopWithReceipts()
  const orders = Array.from({ length: count }, () => aReceiptOrder())
  await sell(shop, orders)
  const provider = createProvider(options)
  return { shop, orders, provider, engine: createReceiptEngine(provider.gateway, Date.now() + 1000) }
}

const loadOnlyReceipt = async (shop: Shop) => {
  const [row] = await listReceipts(shop)
  if (!row) throw new Error('no receipt')
  return row
}
const refuses = (kind: SendFailure, retryAfterMs: number | null = null) =>
  createFailure(kind, `said_${kind}`, 'why', retryAfterMs)

describe('the consumer of receipts', () => {
  it('sends fifty receipts, each once and under its own key', async () => {
    const { shop, provider, engine } = await seedReceipts(50)
    await Promise.all([engine.run(), engine.run(), engine.run()])
    const rows = await listReceipts(shop)
    expect(rows.map(({ status, attempts }) => [status, attempts])).toEqual(rows.map(() => ['sent', 1]))
    expect(provider.calls.map(({ key }) => key).toSorted()).toEqual(rows.map(({ id }) => id))
    expect([...provider.accepted.values()].every((times) => times === 1)).toBe(true)
  })

  it('retries after a temporary failure, with the same message', async () => {
    const { shop, provider, engine } = await seedReceipts()
    provider.play([refuses('transient'), refuses('transient')])
    await engine.run()
    const first = await loadOnlyReceipt(shop)
    expect(first).toMatchObject({ status: 'pending', attempts: 1, error_code: 'said_transient', claimed_until: null })
    expect(first.due_at).toBe(engine.job.now() + 30_000)
    await engine.run()
    expect(provider.calls).toHaveLength(1)
    // The message is edited in between, and the repeated call stays the same.
    await db.batch([update(emailMessages, { subject: { en: 'Other' } }, sql`id = ${first.email_message_id}`)])
    engine.advance(30_000)
    await engine.run()
    expect((await loadOnlyReceipt(shop)).due_at).toBe(engine.job.now() + 2 * minute)
    engine.advance(2 * minute)
    await engine.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'sent', attempts: 3, error_code: null, content: null })
    expect(new Set(provider.calls.map((call) => JSON.stringify(call))).size).toBe(1)
  })

  it('delays all waiting receipts as long as the provider asks', async () => {
    const { shop, provider, engine } = await seedReceipts(40)
    provider.play(Array.from({ length: 40 }, () => refuses('rate_limited', 5 * minute)))
    await engine.run()
    expect(provider.calls.length).toBeLessThanOrEqual(5)
    const rows = await listReceipts(shop)
    expect(rows.filter(({ attempts }) => attempts > 0).length).toBe(provider.calls.length)
    provider.play([])
    engine.advance(4 * minute)
    const claimed = rows.filter(({ attempts }) => attempts === 0).length
    expect(claimed).toBeGreaterThanOrEqual(35)
    engine.advance(minute)
    await engine.run()
    expect((await listReceipts(shop)).every(({ status }) => status === 'sent')).toBe(true)
  })

  it('delays only the organisation whose sender address the provider refuses', async () => {
    const unverified = await seedReceipts(12)
    const well = await seedReceipts(12)
    const gateway = {
      ...well.provider.gateway,
      send: async (emails: readonly OutboundEmail[], key: string) =>
        emails[0]?.from.address === 'tickets@nordlys.example'
          ? [refuses('sender')]
          : well.provider.gateway.send(emails, key),
    }
    await db.all(sql`update editions set email_sender_address = 'well@other.example'
      where id = ${well.shop.edition_id}`)
    await seedVerified(unverified.shop.organization_id, 'nordlys.example')
    await seedVerified(well.shop.organization_id, 'other.example')
    const engine = createReceiptEngine(gateway, Date.now() + 2000)
    await engine.run()
    expect((await listReceipts(well.shop)).map(({ status }) => status)).toEqual(Array(12).fill('sent'))
    for (const row of await listReceipts(unverified.shop))
      expect(row).toMatchObject({ status: 'pending', error_code: 'said_sender', content: null })
    // Each refusal delays the next try further, for up to a week.
    for (let day = 0; day < 5; day++) {
      engine.advance(24 * hour)
      await engine.run()
    }
    const [delayedReceipt] = await listReceipts(unverified.shop)
    expect([delayedReceipt?.status, (delayedReceipt?.due_at ?? 0) - engine.job.now()]).toEqual(['pending', hour])
  })

  it('stops after a permanent failure, and after a day of temporary ones', async () => {
    const { shop, provider, engine } = await seedReceipts(2)
    provider.play([refuses('permanent'), refuses('permanent')])
    await engine.run()
    for (const row of await listReceipts(shop))
      expect(row).toMatchObject({ status: 'failed', error_code: 'said_permanent', error_detail: 'why', attempts: 1 })
    const later = await seedReceipts()
    for (let turn = 0; turn < 12; turn++) {
      later.provider.play([refuses('transient')])
      await later.engine.run()
      later.engine.advance(6 * hour)
    }
    const row = await loadOnlyReceipt(later.shop)
    expect(row).toMatchObject({ status: 'failed', error_code: 'said_transient', due_at: null })
    expect(row.attempts).toBeGreaterThanOrEqual(4)
    expect(later.provider.calls).toHaveLength(row.attempts)
  })

  it('waits until an account is repaired, and then uses the new settings', async () => {
    const { shop, provider, engine } = await seedReceipts()
    for (let turn = 0; turn < 20; turn++) {
      provider.play([refuses('configuration')])
      await engine.run()
      expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'pending', content: null })
      engine.advance(3 * hour)
    }
    await seedVerified(shop.organization_id, 'nordlys.example')
    await db.all(sql`update editions set email_sender_address = 'mended@nordlys.example' where id = ${shop.edition_id}`)
    await engine.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'sent' })
    expect(provider.calls.at(-1)?.email.from.address).toBe('mended@nordlys.example')
  })

  it('repeats a call without an answer when the provider deduplicates', async () => {
    const { shop, provider, engine } = await seedReceipts()
    provider.play(['accept and lose the answer'])
    await engine.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'pending', is_doubtful: true })
    engine.advance(minute)
    await engine.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'sent', attempts: 2 })
    expect([...provider.accepted.values()]).toEqual([1])
  })

  it('gives up after a call without an answer when the provider does not deduplicate', async () => {
    const { shop, provider, engine } = await seedReceipts(1, { deduplicates: false })
    provider.play(['accept and lose the answer'])
    await engine.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'failed', error_code: 'unknown' })
    engine.advance(hour)
    await engine.run()
    expect([...provider.accepted.values()]).toEqual([1])
  })

  it('never repeats a call with another provider', async () => {
    const { shop, provider, engine } = await seedReceipts()
    provider.play(['accept and lose the answer'])
    await engine.run()
    const other = createProvider({ deduplicates: true, name: 'other' })
    const next = createReceiptEngine(other.gateway, engine.job.now() + hour)
    await next.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'failed', error_code: 'unknown' })
    expect(other.calls).toEqual([])
  })

  it('does not repeat a call when the provider has forgotten its key', async () => {
    const { shop, provider, engine } = await seedReceipts()
    provider.play(['accept and lose the answer'])
    await engine.run()
    engine.advance(25 * hour)
    await engine.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'failed', error_code: 'unknown' })
    expect(provider.calls).toHaveLength(1)
  })

  it('sends nothing to an address with a hard bounce, and ignores other suppressions', async () => {
    const { shop, orders, provider, engine } = await seedReceipts(2)
    const [bounced, unsubscribed] = orders.map(({ customer }) => customer.email)
    const row = { organization_id: shop.organization_id, channel: 'email' as const, created_at: 0 }
    await db.batch([
      insert(suppressions, { ...row, address: bounced ?? '', reason: 'hard_bounce' }),
      insert(suppressions, { ...row, address: unsubscribed ?? '', reason: 'unsubscribed' }),
    ])
    await engine.run()
    const receipts = await listReceipts(shop)
    expect(receipts.map(({ recipient, status, error_code }) => [recipient, status, error_code])).toEqual([
      [bounced, 'failed', 'suppressed'],
      [unsubscribed, 'sent', null],
    ])
    expect(provider.calls.map(({ email }) => email.to.address)).toEqual([unsubscribed])
  })

  it('stores that the message was deleted', async () => {
    const { shop, engine } = await seedReceipts()
    const { email_message_id } = await loadOnlyReceipt(shop)
    await db.batch([
      sql`update editions set transaction_receipt_email_id = null where id = ${shop.edition_id}`,
      sql`delete from email_messages where id = ${email_message_id}`,
    ])
    await engine.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'failed', error_code: 'message_missing' })
  })

  it('sends the receipt two minutes after a crash', async () => {
    const { shop, provider, engine } = await seedReceipts()
    provider.play(['die'])
    await expect(engine.run()).rejects.toThrow('E-mails could not be sent')
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'pending', is_doubtful: true, attempts: 1 })
    await engine.run()
    expect(provider.calls).toHaveLength(1)
    await sweepEmails(engine.job)
    expect(engine.enqueued.filter((delay) => delay === 0)).toEqual([])
    engine.advance(2 * minute)
    await sweepEmails(engine.job)
    expect(engine.enqueued).toContain(0)
    await engine.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'sent', attempts: 2 })
  })

  it('stores a late confirmation, even after it gave up', async () => {
    const { shop, provider, engine } = await seedReceipts(1, { deduplicates: false })
    const { gateway } = provider
    const slow: typeof gateway.send = gateway.send.bind(gateway)
    gateway.send = async (messages, key) => {
      // The claim ends while this call is running, and another consumer finds the receipt in doubt.
      engine.advance(3 * minute)
      await engine.run()
      expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'failed', error_code: 'unknown' })
      return slow(messages, key)
    }
    await engine.run()
    expect(await loadOnlyReceipt(shop)).toMatchObject({ status: 'sent', error_code: null })
    expect([...provider.accepted.values()]).toEqual([1])
  })
})
