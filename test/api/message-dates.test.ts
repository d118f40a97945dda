import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { Language } from '../../src/domain/languages.ts'
import { post } from '../support/api.ts'
import { listCaptured, runUntil } from '../support/campaigns.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { write } from '../support/seeding/rows.ts'

const rich = (text: Partial<Record<Language, string>>) => [{ id: 'a', type: 'rich_text' as const, data: { text } }]

/** Sends a campaign with this text to one person, and returns what stands between its brackets. */
async function sendText(source: string, language: Language, columns: { start_at: number; timezone: string }) {
  const crowd = await seedCrowd(1, { enabled_languages: [language], default_language: language, ...columns })
  await write(sql`update users set locale = ${language} where id = ${crowd.people[0]?.id ?? ''}`)
  const message = await seedMessage(crowd, {
    type: 'campaign',
    subject: { [language]: `<${source}>` },
    blocks: rich({ [language]: `[${source}]` }),
  })
  const { campaign } = await seedReady(crowd, { email_message_id: message })
  const reply = await post(`/v1/campaigns/${campaign.id}/send-now`, {})
  expect([reply.status, reply.body.errors]).toEqual([200, undefined])
  await runUntil(campaign.id, ['sent'])
  const [mail] = await listCaptured(campaign.id)
  const text = /\[(.*)\]/s.exec(mail?.body ?? '')?.[1]
  expect(mail?.subject).toBe(`<${text}>`)
  expect(mail?.html).toContain(`[${text}]`)
  return text
}

const may = { start_at: Date.parse('2027-05-01T10:00:00Z'), timezone: 'Europe/Copenhagen' }

describe('the filter date', () => {
  it.each([
    ['en', 'May 1, 2027|2027-05-01|Saturday 1 May|Sat 1 May|12:00 +0200'],
    ['da', '1. maj 2027|2027-05-01|lørdag 1 maj|lør. 1 maj|12:00 +0200'],
    ['se', '1 maj 2027|2027-05-01|lördag 1 maj|lör 1 maj|12:00 +0200'],
    ['nl', '1 mei 2027|2027-05-01|zaterdag 1 mei|za 1 mei|12:00 +0200'],
    ['pl', '1 maja 2027|2027-05-01|sobota 1 maja|sob. 1 maj|12:00 +0200'],
  ] as const)('writes the day of an edition in each language, in May: %s', async (language, text) => {
    const source = ['', '"%Y-%m-%d"', '"%A %-d %B"', '"%a %-d %b"', '"%H:%M %z"']
      .map((format) => `{{ edition.start_date ${format && `| date: ${format}`} }}`)
      .join('|')
    expect(await sendText(source, language, may)).toBe(text)
  })

  it.each([
    ['Pacific/Kiritimati', '2027-05-02 00:00|2027-05-01 10:00|+1400'],
    ['America/New_York', '2027-05-01 06:00|2027-05-01 10:00|-0'],
  ])(
    'writes dates and the current time in the zone of the edition, unless it names one: %s',
    async (timezone, text) => {
      const source =
        '{{ edition.start_date | date: "%Y-%m-%d %H:%M" }}|{{ edition.start_date | date: "%Y-%m-%d %H:%M", "UTC" }}|{{ "now" | date: "%z" }}'
      const written = await sendText(source, 'en', { ...may, timezone })
      expect(written).toContain(text)
    },
  )

  it('is the only one that sees a date: every other filter and condition sees the text', async () => {
    const source = [
      '{{ edition.start_date | append: "!" }}',
      '{{ edition.start_date | upcase | size }}',
      '{{ edition.start_date.size }}',
      '{% if edition.start_date == "1. maj 2027" %}same{% endif %}',
      '{% if "1. maj 2027" == edition.start_date %}same{% endif %}',
      '{% if edition.start_date == edition.start_date and edition.start_date != blank %}set{% endif %}',
      '{% if edition.start_date contains "maj" %}in May{% endif %}',
      '{% if edition.start_date > "1. a" and edition.start_date <= "1. n" %}sorted{% endif %}',
      '{% case edition.start_date %}{% when "1. maj 2027" %}case{% endcase %}',
      '{% case "1. maj 2027" %}{% when edition.start_date %}case{% endcase %}',
      '{% assign day = edition.start_date %}{{ day | date: "%d/%m" }} {{ day }}',
      '{{ edition.start_date | default: "x" | date: "%d/%m" }}',
      '{% capture day %}{{ edition.start_date }}{% endcapture %}{{ day }}',
      '{{ "on x" | replace: "x", edition.start_date }}',
    ].join('|')
    expect(await sendText(source, 'da', may)).toBe(
      '1. maj 2027!|11|11|same|same|set|in May|sorted|case|case|01/05 1. maj 2027|01/05|1. maj 2027|on 1. maj 2027',
    )
  })

  it('writes an empty date as nothing', async () => {
    const source = '{{ edition.end_date | date: "%Y" }}{% if edition.end_date == blank %}none{% endif %}'
    expect(await sendText(source, 'da', may)).toBe('none')
  })

  it('reads the texts of the context of a preview as texts, and shows the samples as dates', async () => {
    const crowd = await seedCrowd(1)
    const id = await seedMessage(crowd, { type: 'receipt' })
    const source =
      '[{{ edition.start_date | date: "%-d/%-m %Y" }}|{{ edition.start_date }}|{{ order.date | date: "%A %H:%M" }}|{{ "2027-05-01" | date: "%-d %B" }}]'
    const show = async (context: object) => {
      const { text } = (
        await post(`/v1/email-messages/${id}/preview`, {
          language: 'da',
          blocks: rich({ da: source }),
          subject: { da: 'x' },
          context,
        })
      ).body
      return /\[(.*)\]/.exec(text)?.[1]
    }
    expect(await show({})).toBe('19/6 2026|19. juni 2026|mandag 10:00|1 maj')
    expect(await show({ edition: { start_date: 'next year' }, order: { date: '2027-05-03T08:30:00' } })).toBe(
      'next year|next year|mandag 08:30|1 maj',
    )
    expect(await show({ edition: { start_date: '2027-05-02' } })).toBe('2/5 2027|2027-05-02|mandag 10:00|1 maj')
    expect(await show({ edition: { start_date: { at: 1 }, timezone: 'Nowhere' } })).toBe('||mandag 10:00|1 maj')
  })

  it('gives templates nothing but the text of a date', async () => {
    const id = await seedMessage(await seedCrowd(1), { type: 'receipt' })
    const fields = ['constructor', 'write', 'toString', 'equals', 'prototype', '__proto__', 'at', 'indexOf']
    const source = fields
      .map((field) => `{{ edition.start_date.${field} }}{{ edition.start_date["${field}"] }}`)
      .join('')
    const blocks = rich({ en: `[${source}]` })
    const { status, body } = await post(`/v1/email-messages/${id}/preview`, { blocks, subject: { en: 'x' } })
    expect([status, body.text]).toEqual([200, expect.stringContaining('[]')])
  })

  it('keeps its bounds', async () => {
    const id = await seedMessage(await seedCrowd(1), { type: 'receipt' })
    const blocks = rich({ en: '{{ edition.start_date | date: "%1000000Y" }}' })
    const { status, body } = await post(`/v1/email-messages/${id}/preview`, { blocks })
    expect([status, body.errors[0].code]).toEqual([400, 'template_too_large'])
  })
})
