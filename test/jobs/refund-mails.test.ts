import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { editions } from '../../src/db/schema/editions.ts'
import { suppressions } from '../../src/db/schema/suppressions.ts'
import { insert, update } from '../../src/db/write.ts'
import { parseLanguage, languages } from '../../src/domain/languages.ts'
import { buildOutcomeChanges } from '../../src/modules/refund-payments/outcome.ts'
import { buildRefundEmailStatements } from '../../src/modules/transactional-emails/index.ts'
import { commitAnnounced } from '../../src/modules/webhooks/index.ts'
import { createProvider as emailProviderOf, createReceiptEngine } from '../support/receipts.ts'
import {
  approveAgain,
  createProvider,
  loadRefundEmails,
  createRefundEngine,
  loadRefundRow,
  buildRefusal,
} from '../support/refund-payments.ts'
import { seedReceiptMessage } from '../support/seeding/messaging/email-messages.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedDueRefund } from '../support/seeding/sales/refunds.ts'
import { seedSale, type Sale } from '../support/seeding/sales/trades.ts'

beforeEach(() => db.batch([sql`delete from transactional_emails`, sql`update refund_requests set due_at = null`]))

/** Sends due messages, and returns the subject and text of each. */
async function sendDueMails(): Promise<string[]> {
  const provider = emailProviderOf({ deduplicates: true })
  const engine = createReceiptEngine(provider.gateway, Date.now() + 60_000)
  await engine.run()
  await engine.run()
  return provider.calls.map(({ email }) => `${email.subject}\n${email.text}`.replaceAll('\u00A0', ' '))
}

async function pay(sale: Sale, columns: Parameters<typeof seedDueRefund>[1] = {}): Promise<string> {
  const refund = await seedDueRefund(sale, columns)
  await createRefundEngine(createProvider()).run()
  return refund
}

const speak = (sale: Sale, language: string) =>
  write(sql`update users set locale = ${language}, first_name = 'Astrid' where id = ${sale.user}`)

const values =
  '{{ refund.amount }} | {{ refund.reason }} | {{ refund.status }} | {{ refund.date }} | {{ purchase.product }} | {{ purchase.price }} | {{ order.total }}'
const text = { en: `<p>${values}</p>`, da: `<p>${values}</p>` }

/** A message with every variable of a refund. */
const seedConfirmation = (organization: string, subject: string) =>
  seedReceiptMessage(
    { id: organization },
    {
      type: 'refund_confirmation',
      subject: { en: subject, da: `${subject} (da)` },
      blocks: [{ id: 'b1', type: 'rich_text', data: { text } }],
    },
  )

describe('the confirmation of a refund', () => {
  it('is sent once, with the amount in the language and the currency of the customer', async () => {
    const amounts = {
      en: 'DKK 1,234.50',
      da: '1.234,50 kr.',
      se: '1 234,50 Dkr',
      nl: 'DKK 1.234,50',
      pl: '1234,50 DKK',
    }
    for (const locale of [...languages, 'sv-SE']) {
      const language = parseLanguage(locale) ?? 'en'
      const sale = await seedSale()
      await speak(sale, locale)
      await pay(sale, { requested_minor: 123_450, approved_minor: 123_450 })
      const [mail, ...more] = await sendDueMails()
      expect([locale, more]).toEqual([locale, []])
      expect(mail?.replaceAll(' ', '')).toContain(amounts[language].replaceAll(' ', ''))
    }
  })

  it('uses the message of the edition or of the platform, with all variables', async () => {
    const sale = await seedSale()
    await speak(sale, 'da')
    const editionMessage = await seedConfirmation(sale.organization, 'Nordlys pays back')
    await write(update(editions, { refund_confirmation_email_id: editionMessage }, sql`id = ${sale.edition}`))
    await pay(sale, { requested_minor: 2500, approved_minor: 2500, reason: 'event_cancelled' })
    const [sentMail = ''] = await sendDueMails()
    expect(sentMail).toContain('Nordlys pays back (da)')
    expect(sentMail).toMatch(
      /25,00 kr\. \| Arrangementet er aflyst \| completed \| .+ \| Day ticket \d+ \| 100,00 kr\. \| .+ kr\./,
    )
    const other = await seedSale()
    await pay(other)
    expect((await sendDueMails()).map((mail) => mail.split('\n')[0])).toEqual(['Your refund of DKK 100.00'])
  })

  it('writes the dates of the refund, the order and the edition with the filter date, in the zone of the edition', async () => {
    const sale = await seedSale()
    await speak(sale, 'da')
    const formats = [
      '{{ refund.date | date: "%Y-%m-%d %H:%M" }}',
      '{{ order.date | date: "%-d. %B %Y %H:%M" }}',
      '{{ edition.start_date | date: "%d/%m" }}',
      '{{ edition.end_date | date: "%A" }}',
    ].join(' | ')
    const message = await seedReceiptMessage(
      { id: sale.organization },
      {
        type: 'refund_confirmation',
        subject: { en: 'x', da: 'x' },
        blocks: [{ id: 'b1', type: 'rich_text', data: { text: { en: formats, da: formats } } }],
      },
    )
    const columns = {
      refund_confirmation_email_id: message,
      timezone: 'Pacific/Kiritimati',
      start_at: Date.parse('2027-04-30T12:00:00Z'),
      end_at: Date.parse('2027-05-02T12:00:00Z'),
    }
    await write(update(editions, columns, sql`id = ${sale.edition}`))
    await write(sql`update orders set created_at = ${Date.parse('2027-04-30T22:30:00Z')} where id = ${sale.order}`)
    const refund = await pay(sale)
    const { completed_at } = await loadRefundRow(refund)
    const local = new Date((completed_at ?? 0) + 14 * 3_600_000).toISOString()
    const [mail = ''] = await sendDueMails()
    expect(mail).toContain(`${local.slice(0, 10)} ${local.slice(11, 16)} | 1. maj 2027 12:30 | 01/05 | mandag`)
  })

  it('uses the platform’s text when its message was deleted before it was sent', async () => {
    const sale = await seedSale()
    const deletedMessage = await seedConfirmation(sale.organization, 'Gone')
    await write(update(editions, { refund_confirmation_email_id: deletedMessage }, sql`id = ${sale.edition}`))
    await pay(sale)
    await write(sql`delete from email_messages where id = ${deletedMessage}`)
    expect((await sendDueMails())[0]).toMatch(/^Your refund for order/)
  })

  it('is not sent without an address, when notification is off, and to dead addresses', async () => {
    const [silent, without, dead] = [await seedSale(), await seedSale(), await seedSale()]
    await write(sql`update users set email = null, phone_number = '+4520999999' where id = ${without.user}`)
    const address = `${dead.user}@example.test`
    await write(
      insert(suppressions, {
        organization_id: dead.organization,
        channel: 'email',
        address,
        reason: 'hard_bounce',
        created_at: 1,
      }),
    )
    expect(await loadRefundEmails(await pay(silent, { notify_customer: false }))).toEqual([])
    expect(await loadRefundEmails(await pay(without))).toEqual([])
    await pay(dead)
    expect(await sendDueMails()).toEqual([])
  })

  it('has the amounts of the completion, even when they change before it is sent', async () => {
    const sale = await seedSale()
    const refund = await pay(sale, { requested_minor: 2500, approved_minor: 2500 })
    await write(sql`update refund_requests set refunded_minor = 1, approved_minor = 1 where id = ${refund}`)
    expect((await sendDueMails())[0]).toContain('DKK 25.00')
  })

  it('is sent again for the next attempt after a late failure', async () => {
    const sale = await seedSale()
    const refund = await pay(sale)
    const { job } = createRefundEngine(createProvider())
    const failed = buildRefusal('expired_card')
    const { statements, announcements } = await buildOutcomeChanges(job, await loadRefundRow(refund), failed)
    await commitAnnounced(job, statements, announcements)
    await approveAgain(sale, refund, 1)
    await createRefundEngine(createProvider()).run()
    const rows = await loadRefundEmails(refund)
    expect(rows.map(({ kind, refund_attempt }) => `${kind} ${refund_attempt}`).toSorted()).toEqual([
      'refund_confirmation 1',
      'refund_confirmation 2',
      'refund_correction 1',
    ])
    const subjects = (await sendDueMails()).map((mail) => mail.split('\n')[0])
    expect(subjects.filter((subject) => subject?.startsWith('Correction: your refund for order'))).toHaveLength(1)
  })
})

describe('the e-mail about a rejected refund', () => {
  it('shows the reason as text, without markup or templates', async () => {
    const sale = await seedSale()
    const refund = await seedDueRefund(sale, { status: 'rejected', due_at: null })
    const { job } = createRefundEngine(createProvider())
    const rejection_reason = '<b>Too late</b> {{ customer.email }} {% if x %}'
    const row = { ...(await loadRefundRow(refund)), rejection_reason, amount_minor: 10_000 }
    await write(...(await buildRefundEmailStatements(job, 'refund_rejection', row)))
    const [mail = ''] = await sendDueMails()
    expect(mail).toMatch(/^About your refund for order/)
    expect(mail).toContain('Reason: <b>Too late</b> {{ customer.email }} {% if x %}')
    expect(mail).toContain('DKK 100.00')
  })
})
