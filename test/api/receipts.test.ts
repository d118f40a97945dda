import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { call, callWith } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { listReceipts, sell } from '../support/receipts.ts'
import { seedReceiptMessage } from '../support/seeding/messaging/email-messages.ts'
import { seedVerified } from '../support/seeding/messaging/sender-domains.ts'
import { db } from '../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts } from '../support/seeding/sales/orders.ts'

beforeEach(() => db.all(sql`delete from transactional_emails`))

const listOutbox = async (address: string) => {
  const { body } = await call(`/dev/outbox.json?to=${address}`, { token: null })
  const messages: { id: string }[] = body.results
  return Promise.all(messages.map(async ({ id }) => (await call(`/dev/outbox/${id}.json`, { token: null })).body))
}

describe('an import with send_receipts', () => {
  it('makes one receipt for each order with purchases whose customer has an address', async () => {
    const shop = await seedShopWithReceipts()
    const bought = [aReceiptOrder({ status: 'completed' }), aReceiptOrder({ status: 'confirmed' })]
    const others = [
      aReceiptOrder({ status: 'pending' }),
      aReceiptOrder({ status: 'cancelled' }),
      aReceiptOrder({ customer: { phone_number: '+4520100001' } }),
    ]
    const reply = await sell(shop, [...bought, ...others])
    expect(reply.status, reply.text).toBe(201)
    const receipts = await listReceipts(shop)
    expect(receipts.map(({ recipient }) => recipient)).toEqual(bought.map(({ customer }) => customer.email))
    expect(receipts.map(({ order_id }) => order_id)).toEqual(
      reply.body.results.slice(0, 2).map((result: { order_id: string }) => result.order_id),
    )
    for (const receipt of receipts)
      expect(receipt).toMatchObject({ kind: 'receipt', status: 'pending', attempts: 0, language: 'en', ...shop })
  })

  it('sends receipts when names of people and editions contain line breaks', async () => {
    const shop = await seedShopWithReceipts({ email_sender_name: null, full_name: 'Nordlys\r\nBcc: all' })
    await seedVerified(shop.organization_id, 'nordlys.example')
    const order = aReceiptOrder()
    await sell(shop, [
      { ...order, customer: { ...order.customer, first_name: 'Astrid\r\nX:', last_name: 'Ho\u2028lm\u202e' } },
    ])
    await sendEmails(createContextAt(Date.now() + 1000))
    expect(await listReceipts(shop)).toMatchObject([{ status: 'sent' }])
    const [mail] = await listOutbox(order.customer.email)
    expect(mail).toMatchObject({
      from: '"Nordlys Bcc: all" <tickets@nordlys.example>',
      to: `"Astrid X: Ho lm" <${order.customer.email}>`,
    })
  })

  it('sends receipts in the language of the customer, from the sender of the edition', async () => {
    const shop = await seedShopWithReceipts()
    await seedVerified(shop.organization_id, 'nordlys.example')
    const [english, danish, polish] = ['en', 'da', 'pl'].map((locale) => {
      const order = aReceiptOrder()
      return { ...order, customer: { ...order.customer, locale } }
    })
    if (!english || !danish || !polish) throw new Error('three orders')
    await sell(shop, [english, danish, polish])
    await sendEmails(createContextAt(Date.now() + 1000))
    const [mail] = await listOutbox(danish.customer.email)
    const [receipt] = (await listReceipts(shop)).filter(({ language }) => language === 'da')
    expect(receipt).toMatchObject({
      status: 'sent',
      attempts: 1,
      provider_id: mail.id,
      content: null,
      error_code: null,
    })
    expect(mail).toMatchObject({
      reference: receipt?.id,
      from: 'Nordlys <tickets@nordlys.example>',
      to: `Astrid Holm <${danish.customer.email}>`,
      reply_to: 'help@nordlys.example',
      subject: `Din ordre ${danish.order_number}`,
    })
    expect(mail.html).toContain(`Kære Astrid, tak for ordre ${danish.order_number}.`)
    expect(mail.text).toContain('450,00\u00A0kr.')
    expect(mail.html).toContain('Saturday')
    expect((await listOutbox(english.customer.email))[0].subject).toBe(`Your order ${english.order_number}`)
    // Polish is missing, so the language of the edition replaces it.
    expect((await listOutbox(polish.customer.email))[0].subject).toBe(`Your order ${polish.order_number}`)
  })

  it('sends from the address of the service when the edition has no sender', async () => {
    const shop = await seedShopWithReceipts({
      email_sender_name: null,
      email_sender_address: null,
      email_reply_to: null,
      full_name: 'Nordlys 2026',
    })
    const order = aReceiptOrder()
    await sell(shop, [order])
    await sendEmails(createContextAt(Date.now() + 1000))
    expect(await listOutbox(order.customer.email)).toMatchObject([
      { from: 'Nordlys 2026 <no-reply@example.com>', reply_to: null },
    ])
  })

  it('sends from the address of the service while the domain of the sender is not verified', async () => {
    const other = await seedShopWithReceipts()
    await seedVerified(other.organization_id, 'nordlys.example')
    const sendReceipt = async (columns: Parameters<typeof seedShopWithReceipts>[0]) => {
      const shop = await seedShopWithReceipts(columns)
      const order = aReceiptOrder()
      await sell(shop, [order])
      await sendEmails(createContextAt(Date.now() + 1000))
      const [mail] = await listOutbox(order.customer.email)
      return [mail.from, mail.reply_to]
    }
    const platform = 'Nordlys <no-reply@example.com>'
    expect(await sendReceipt({})).toEqual([platform, 'help@nordlys.example'])
    expect(await sendReceipt({ email_reply_to: null })).toEqual([platform, 'tickets@nordlys.example'])
    // The parent domain, a subdomain and a domain with the same ending are other domains.
    for (const domain of ['mail.nordlys.example', 'example', 'xnordlys.example'])
      expect(await sendReceipt({ email_sender_address: `tickets@${domain}` })).toEqual([
        platform,
        'help@nordlys.example',
      ])
    // Old names that are invalid are replaced, and invalid addresses are left out.
    const sender = {
      email_sender_name: 'pay@bank.example',
      email_sender_address: 'a@nordlys.example@nordlys.example',
      email_reply_to: 'a@b.example, c@d.example',
      full_name: 'Nordlys\u202E 2026',
    }
    expect(await sendReceipt(sender)).toEqual(['Nordlys 2026 <no-reply@example.com>', null])
    expect(await sendReceipt({ ...sender, full_name: 'pay＠bank.example' })).toEqual([
      'Events <no-reply@example.com>',
      null,
    ])
  })

  it('makes no receipt for a repeated import, nor for orders that only change', async () => {
    const shop = await seedShopWithReceipts()
    const order = aReceiptOrder({ status: 'confirmed' })
    await sell(shop, [order])
    await sell(shop, [order])
    await sell(shop, [{ ...order, status: 'completed' }], { on_duplicate: 'update' })
    expect(await listReceipts(shop)).toHaveLength(1)
  })

  it('makes no receipt for a dry run, nor without the option', async () => {
    const shop = await seedShopWithReceipts()
    await sell(shop, [aReceiptOrder()], { dry_run: true })
    await sell(shop, [aReceiptOrder()], { send_receipts: false })
    expect(await listReceipts(shop)).toEqual([])
  })

  it('makes no receipt for an order that failed', async () => {
    const shop = await seedShopWithReceipts()
    const reply = await sell(shop, [aReceiptOrder({ discount: 10_000 }), aReceiptOrder()])
    expect(reply.body).toMatchObject({ created_orders: 1, failed_orders: 1 })
    expect(await listReceipts(shop)).toHaveLength(1)
  })

  it('is refused before anything is written when no message exists', async () => {
    await db.all(sql`delete from email_messages where scope = 'platform'`)
    const shop = await seedShopWithReceipts({ transaction_receipt_email_id: null })
    const refusal = await sell(shop, [aReceiptOrder()])
    expect(refusal.status).toBe(400)
    expect(refusal.body.errors).toMatchObject([{ code: 'no_receipt_message', pointer: '#/send_receipts' }])
    expect(await db.all(sql`select id from orders where edition_id = ${shop.edition_id}`)).toEqual([])
    const platform = await seedReceiptMessage(null)
    expect((await sell(shop, [aReceiptOrder()])).status).toBe(201)
    expect(await listReceipts(shop)).toMatchObject([{ email_message_id: platform }])
  })

  it('starts to send right after the answer', async () => {
    const shop = await seedShopWithReceipts()
    const enqueued: unknown[] = []
    const EMAILS = {
      sendBatch: async (messages: { body: unknown }[]) => enqueued.push(...messages.map(({ body }) => body)),
    }
    const body = { ...shop, source: 'webshop', send_receipts: true, orders: [aReceiptOrder()] }
    const reply = await callWith({ EMAILS }, '/v1/data-imports/external-orders', { method: 'POST', body })
    expect(reply.status, reply.text).toBe(201)
    expect(enqueued).toEqual([{ type: 'email.send' }])
  })
})
