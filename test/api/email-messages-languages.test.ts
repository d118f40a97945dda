import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { phrases } from '../../src/domain/email/messages/phrases.ts'
import { toBcp47, type Language, languages } from '../../src/domain/languages.ts'
import { sha256, toHex } from '../../src/domain/text/encoding.ts'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { call, post } from '../support/api.ts'
import { listCaptured, runUntil } from '../support/campaigns.ts'
import { createContextAt } from '../support/context.ts'
import { sell } from '../support/receipts.ts'
import { marketingTo, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { db, write } from '../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts, type Shop } from '../support/seeding/sales/orders.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
let id: string
beforeAll(async () => {
  world = await buildWorld()
  id = await seedMessage({ organization: world.a.id, edition: world.a.editions[0].id }, { type: 'receipt' })
})

const inLanguages = (word: string, ...spoken: Language[]) =>
  Object.fromEntries(spoken.map((language) => [language, `${word} ${language}`]))
const rich = (text: object) => ({ type: 'rich_text', data: { text } })
const preview = async (body: object) =>
  (await post(`/v1/email-messages/${id}/preview`, body, world.people.EV.token)).body

/** Lists the languages of all texts in the message. */
const listLanguages = ({ html, text, subject }: { html: string; text: string; subject: string }): string[] => {
  const content = `${subject} ${text} ${/<body.*/s.exec(html)?.[0] ?? ''}`
  return languages.filter(
    (language) =>
      new RegExp(`\\b(Subject|Block|Title|Footer) ${language}\\b`).test(content) ||
      html.includes(`<html lang="${toBcp47(language)}"`),
  )
}

describe('the language of a message', () => {
  const message = (lacking: Partial<Record<'subject' | 'block' | 'title' | 'footer', Language>>, ...of: Language[]) => {
    const texts = (name: 'subject' | 'block' | 'title' | 'footer', word: string) =>
      inLanguages(word, ...of.filter((language) => lacking[name] !== language))
    return {
      subject: texts('subject', 'Subject'),
      blocks: [
        rich(texts('block', 'Block')),
        { type: 'order_summary', data: { title: texts('title', 'Title') } },
        { type: 'footer', data: { text: texts('footer', 'Footer') } },
      ],
    }
  }

  it.each(['subject', 'block', 'title', 'footer'] as const)(
    'is the default one for all texts when the %s alone is not translated',
    async (name) => {
      const body = await preview({ language: 'da', ...message({ [name]: 'da' }, 'en', 'da') })
      expect(listLanguages(body)).toEqual(['en'])
      expect(body.language).toBe('en')
      expect(body.text).toContain(phrases.en.subtotal)
      expect(body.text).not.toContain('kr.')
      expect(body.missing_translations).toMatchObject([{ language: 'da', fallback: 'en' }])
    },
  )

  it('is the requested one when it is complete, with amounts and dates in that language', async () => {
    const body = await preview({
      language: 'da',
      subject: { da: 'Subject da' },
      blocks: [
        rich({ da: 'Block da {{ order.total }} {{ edition.start_date }} {{ customer.language }}' }),
        { type: 'order_summary', data: {} },
      ],
    })
    expect([listLanguages(body), body.language, body.missing_translations]).toEqual([['da'], 'da', []])
    expect(body.text).toContain('1.125,00\u00A0kr. 19. juni 2026 da')
    expect(body.html).toContain('1.150,00\u00A0kr.')
  })

  it('is English when the default language is not complete, otherwise any complete one', async () => {
    await write(sql`update editions set default_language = 'nl' where id = ${world.a.editions[0].id}`)
    const previewLanguage = async (...of: Language[]) =>
      (await preview({ language: 'da', ...message({ block: 'da' }, ...of) })).language
    expect(await previewLanguage('en', 'da', 'nl')).toBe('nl')
    expect(await previewLanguage('en', 'da', 'pl')).toBe('en')
    expect(await previewLanguage('da', 'pl')).toBe('pl')
    await write(sql`update editions set default_language = 'en' where id = ${world.a.editions[0].id}`)
  })

  it('is the one with the fewest missing texts when no language is complete, and no text is lost', async () => {
    const body = await preview({
      language: 'da',
      subject: inLanguages('Subject', 'en', 'pl'),
      blocks: [
        rich(inLanguages('Block', 'pl', 'da')),
        rich(inLanguages('Title', 'pl')),
        rich(inLanguages('Footer', 'nl')),
      ],
    })
    expect(body.language).toBe('pl')
    expect(body.html).toContain('<html lang="pl"')
    for (const text of ['Block pl', 'Title pl', 'Footer nl']) expect(body.text).toContain(text)
    expect(body.missing_translations).toEqual([
      { pointer: '#/subject', language: 'da', fallback: 'pl' },
      { pointer: '#/blocks/1/data/text', language: 'da', fallback: 'pl' },
      { pointer: '#/blocks/2/data/text', language: 'da', fallback: 'nl' },
    ])
  })
})

const findMail = async (email: string) => {
  const { body } = await call(`/dev/outbox.json?to=${email}`, { token: null })
  return (await call(`/dev/outbox/${body.results[0].id}.json`, { token: null })).body
}

const sellReceipt = async (shop: Shop, locale: string) => {
  const order = aReceiptOrder({ items: [{ product: 'Day ticket', quantity: 2, unit_price: 575 }] })
  const customer = { ...order.customer, locale }
  await sell(shop, [{ ...order, customer }])
  await sendEmails(createContextAt(Date.now() + 1000))
  return findMail(customer.email)
}

describe('a receipt', () => {
  it('is in the language of its recipient, with amounts in that language', async () => {
    const shop = await seedShopWithReceipts()
    const mail = await sellReceipt(shop, 'da')
    expect(mail.html).toContain('<html lang="da"')
    for (const part of [mail.html, mail.text]) expect(part).toContain('1.150,00\u00A0kr.')
    expect(mail.text).toContain('I alt: ')
    expect(mail.text).not.toContain('DKK')
  })

  it('uses one language for all blocks when one block lacks a text, and changes when the text is added', async () => {
    const shop = await seedShopWithReceipts()
    const blocks = (title: object) =>
      JSON.stringify([
        { id: 'a', type: 'rich_text', data: { text: { en: 'On {{ order.date }}', da: 'Den {{ order.date }}' } } },
        { id: 'b', type: 'order_summary', data: { title } },
      ])
    const store = (title: object) =>
      write(sql`update email_messages set blocks = ${blocks(title)} where organization_id = ${shop.organization_id}`)
    await store({ en: 'Your order' })
    const mail = await sellReceipt(shop, 'da')
    expect(mail.subject).toMatch(/^Your order/)
    expect(mail.html).toContain('<html lang="en"')
    for (const part of [mail.html, mail.text]) {
      expect(part).toContain('DKK\u00A01,150.00')
      expect(part).toMatch(/On \w+ \d+, \d{4}/)
      expect(part).not.toMatch(/I alt|kr\.|Den \d/)
    }
    await store({ en: 'Your order', da: 'Din ordre' })
    const later = await sellReceipt(shop, 'da')
    expect(later.html).toContain('<html lang="da"')
    expect(later.text).toContain('1.150,00\u00A0kr.')
  })

  it('is rendered again when an older renderer made the stored form', async () => {
    const shop = { ...(await seedShopWithReceipts({ full_name: 'Nordlys 2026' })), edition_name: 'Nordlys 2026' }
    await sellReceipt(shop, 'da')
    const [message] = await db.all(
      sql<{
        id: string
        subject: string
        blocks: string
      }>`select id, subject, blocks from email_messages where organization_id = ${shop.organization_id}`,
    )
    const { subject, blocks } = message ?? { subject: '', blocks: '' }
    const frame = { defaultLanguage: 'en', title: shop.edition_name, sender: 'Nordlys' }
    const ofFirstRenderer = toHex(await sha256(JSON.stringify([1, 'da', subject, blocks, frame])))
    await write(sql`update email_renditions set html = 'half', content_hash = ${ofFirstRenderer}
      where message_id = ${message?.id ?? ''} and language = 'da'`)
    const mail = await sellReceipt(shop, 'da')
    expect(mail.html).toContain('<html lang="da"')
  })
})

describe('a campaign', () => {
  it('uses one language for each recipient, also for dates', async () => {
    const crowd = await seedCrowd(2, {
      enabled_languages: ['en', 'da'],
      start_at: Date.UTC(2026, 5, 19, 12),
      timezone: 'Europe/Copenhagen',
    })
    const [dane] = crowd.people
    const { campaign, message } = await seedReady(crowd)
    await marketingTo(crowd, campaign.segment_id)
    await write(
      sql`update email_messages set subject = '{"en":"Hello","da":"Hej"}', blocks = ${JSON.stringify([
        { id: 'a', ...rich({ en: 'On {{ edition.start_date }} in {{ customer.language }}' }) },
      ])} where id = ${message}`,
      sql`update users set locale = 'da' where id = ${dane?.id ?? ''}`,
    )
    await post(`/v1/campaigns/${campaign.id}/send-now`, { accept: ['missing_translations'] })
    await runUntil(campaign.id, ['sent'])
    const mail = (await listCaptured(campaign.id)).find(({ recipient }) => recipient.includes(dane?.email ?? '?'))
    expect(mail?.subject).toBe('Hello')
    expect(mail?.html).toContain('<html lang="en"')
    expect(mail?.html).toContain('On June 19, 2026 in en')
    expect(mail?.html).not.toContain('Afmeld')
  })

  it('has its unsubscribe text in the language of the SMS', async () => {
    const crowd = await seedCrowd(1, { enabled_languages: ['en', 'da'] })
    const { campaign } = await seedReady(crowd, { channel: 'sms', sms_body: { en: 'Doors open', da: ' ' } })
    await marketingTo(crowd, campaign.segment_id)
    await write(sql`update users set locale = 'da' where id = ${crowd.people[0]?.id ?? ''}`)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    expect((await listCaptured(campaign.id))[0]?.body).toMatch(/^Doors open\nStop: /)
  })
})
