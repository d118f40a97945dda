import { describe, expect, it } from 'vitest'
import { cleanRichText } from '../../../src/domain/email/blocks/rich-text.ts'
import { findMessageFaults } from '../../../src/domain/email/check.ts'
import { compile } from '../../../src/domain/email/compile.ts'
import { buildSampleContext } from '../../../src/domain/email/liquid/variables.ts'
import { buildReader } from '../../../src/domain/email/messages/phrases.ts'
import { personalise } from '../../../src/domain/email/personalise.ts'
import { findUnknownVariables } from '../../../src/domain/email/unknown-variables.ts'
import { hostileTemplates } from '../../support/hostile-templates.ts'
import { richText } from '../../support/hostile.ts'
import { aMessageOf, framing } from '../../support/messages.ts'

const frame = personalise(compile(aMessageOf(richText('x')), 'en', framing), buildSampleContext())

describe('a hostile template', () => {
  it.each(Object.entries(hostileTemplates))('is refused with its place, or makes a small result: %s', (_, source) => {
    const draft = { blocks: [richText(source)] }
    const [error] = findMessageFaults(draft)
    if (error) {
      expect(error.code).toMatch(/^(invalid_template|template_too_large|misplaced_liquid)$/)
      expect([error.pointer, Number(error.line) >= 1, Number(error.column) >= 1]).toEqual([
        '#/blocks/0/data/text/en',
        true,
        true,
      ])
      expect(error.detail).not.toMatch(/stack|undefined|\[object/)
      return
    }
    const message = personalise(compile(aMessageOf(richText(source)), 'en', framing), buildSampleContext())
    expect(message.text.length - frame.text.length).toBeLessThanOrEqual(250_000)
    expect(message.html.length - frame.html.length).toBeLessThanOrEqual(5 * 250_000)
    findUnknownVariables(draft, buildReader('en', 'en'), 'campaign')
  })

  it.each([
    'lists that are compared',
    'short lists that are compared',
    'lists of cases',
    'lists that are ordered',
    'lists that are searched',
    'texts that are searched',
    'dates',
    'dates in loops',
    'dates of time zones',
    'a date of codes',
    'brackets in each other',
    'some brackets in each other',
    'doubling captures',
    'doubling joins',
    'doubling replacements',
    'long text in loops',
    'long values in loops',
    'other conditions in loops',
    'other conditions of filters in loops',
    'other cases in loops',
  ])('is refused: %s', (name) => {
    expect(findMessageFaults({ blocks: [richText(hostileTemplates[name] ?? '')] })).toHaveLength(1)
  })

  it.each([
    '{{ customer.first_name | split: "" | first }}',
    '{% assign words = customer.full_name | split: " " %}{% if words contains "Holm" %}{{ words | last }}{% endif %}',
    '{{ order.date | date: "%d %B %Y", "Europe/Copenhagen" }}',
    '{% case customer.language %}{% when "da", "se" %}Hej{% else %}Hello{% endcase %}',
    '{% if order.items == empty %}none{% endif %}{% if order.items_count > 2 %}many{% endif %}',
    '{{ order.items[0].name }}{{ order["items"][0]["name"] }}',
    `{% for item in order.items %}${'{{ item.name }}, '.repeat(10)}{% endfor %}`,
    `{% for item in order.items %}{% assign half = item.quantity | divided_by: 2 %}{{ half }}, {{ half }}{% endfor %}`,
  ])('an ordinary template is accepted: %s', (source) => {
    expect(findMessageFaults({ blocks: [richText(`<p>${source}</p>`)] })).toEqual([])
  })
})

describe('the number of Liquid steps', () => {
  // The tag, the variable and its two names.
  const stepsPerOutput = 4
  const steps = (times: number) => richText('{{ a.b }}'.repeat(times))

  it('is limited to 3,000 for one text and for all texts of a language', () => {
    const most = Math.floor(3000 / stepsPerOutput)
    expect(findMessageFaults({ blocks: [steps(most)] })).toEqual([])
    expect(findMessageFaults({ blocks: [steps(most + 1)] })).toMatchObject([
      {
        pointer: '#/blocks/0/data/text/en',
        code: 'template_too_large',
        detail: expect.stringContaining('more than 3000 steps'),
      },
    ])
    const halves = [1, 2].map((id) => ({ ...steps(Math.ceil(most / 2) + 1), id: String(id) }))
    expect(findMessageFaults({ blocks: halves })).toMatchObject([{ pointer: '#/blocks', code: 'template_too_large' }])
    expect(findMessageFaults({ blocks: halves.slice(1) })).toEqual([])
  })
})

describe('the markup of a message', () => {
  // Comparing each tag with each other would take longer than a test may; one pass takes less than a second.
  it.each(['<br>', '<p>', '<br> ', '<a href="tel:1">x</a>', '<li>', '<td>x'])(
    'is read in linear time with 120,000 times %s',
    (part) => {
      expect(cleanRichText(part.repeat(120_000)).html.length).toBeGreaterThan(120_000)
    },
  )

  it('may be nested 500 deep, because closing a tag searches all open ones', () => {
    const deep = (times: number) => findMessageFaults({ blocks: [richText(`<p>a</p>${'<span>'.repeat(times)}x`)] })
    expect(deep(500)).toEqual([])
    expect(deep(501)).toMatchObject([
      {
        pointer: '#/blocks/0/data/text/en',
        code: 'template_too_large',
        detail: 'HTML tags can be nested at most 500 deep.',
      },
    ])
  })

  it('keeps line breaks, and one empty line between paragraphs', () => {
    expect(cleanRichText('a<br><br>b<p>c</p><br><p>d</p>e').text).toBe('a\n\nb\n\nc\n\nd\n\ne')
    expect(cleanRichText(`a${'<br>'.repeat(4800)}b`).text).toBe(`a${'\n'.repeat(4800)}b`)
  })
})
