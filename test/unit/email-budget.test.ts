import { describe, expect, it } from 'vitest'
import { findMessageFaults } from '../../src/domain/email/check.ts'
import {
  describeRenderError,
  maxRenderedLength,
  maxRenderedSmsLength,
  parseLiquid,
  renderLiquid,
} from '../../src/domain/email/liquid/liquid.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { repeatByLoops } from '../support/hostile-templates.ts'
import { richText } from '../support/hostile.ts'

const buildTemplate = (parts: { subject?: string; html?: string; text?: string }) => ({
  subject: '',
  html: '',
  text: '',
  links: [],
  ...parts,
})

const findFault = (work: () => unknown): string | null => {
  try {
    work()
    return null
  } catch (error) {
    return describeRenderError(error) ?? String(error)
  }
}

const tooMuch = (limit: number) =>
  `The text becomes too long: at most ${limit} characters, captures and what filters use included.`
const name = 'x'.repeat(4000)
const output = '{{ customer.first_name }}'

describe('the size of a rendered message', () => {
  it.each([
    ['text', { text: repeatByLoops(2500, output) }],
    ['markup', { html: repeatByLoops(2500, 'x'.repeat(1000)) }],
    ['a subject', { subject: repeatByLoops(2500, output) }],
    ['captures', { text: `{% capture a %}${repeatByLoops(2500, output)}{% endcapture %}` }],
    ['captures one after another', { text: `{% capture a %}${repeatByLoops(400, output)}{% endcapture %}`.repeat(3) }],
    ['a capture inside loops', { text: repeatByLoops(2500, `{% capture a %}${output}{% endcapture %}`) }],
    ['doubling captures', { text: '{% capture a %}{{ a }}{{ a }}xxxxxxxx{% endcapture %}'.repeat(40) }],
    [
      'captures in each other',
      {
        text: `{% capture a %}{% capture b %}${repeatByLoops(250, output)}{% endcapture %}{{ b }}{% endcapture %}{{ a }}`,
      },
    ],
    ['values of lists', { text: repeatByLoops(2500, '{{ customer.many }}') }],
    ['filters', { text: repeatByLoops(2500, `{{ customer.first_name | upcase | size }}`) }],
    ['filters that make nothing', { text: repeatByLoops(2500, `{{ customer.first_name | replace: "x", "" }}`) }],
    ['comparisons', { text: repeatByLoops(2500, '{% if customer.many == customer.many %}{% endif %}') }],
    ['searches', { text: repeatByLoops(2500, '{% if customer.first_name contains "y" %}{% endif %}') }],
    ['dates', { text: repeatByLoops(2500, '{{ "now" | date: "%x" }}') }],
    ['dates of time zones', { text: repeatByLoops(500, '{{ "now" | date: "%x", "Europe/Copenhagen" }}') }],
  ])('is limited during rendering: %s', (_, parts) => {
    const values = { customer: { first_name: name, many: Array.from({ length: 40 }, () => ['x'.repeat(100)]) } }
    expect(findFault(() => personalise(buildTemplate(parts), values as never))).toBe(tooMuch(maxRenderedLength))
  })

  it('counts HTML and text together', () => {
    const parts = { html: repeatByLoops(150, 'x'.repeat(6000)), text: repeatByLoops(150, 'x'.repeat(8000)) }
    expect(findFault(() => personalise(buildTemplate(parts), {}))).toContain('larger than 1500000 bytes')
  })

  it('ends the rendering at the first text that exceeds the limit', () => {
    let reads = 0
    const customer = {
      get first_name() {
        reads++
        return name
      },
    }
    const parsed = parseLiquid('text', repeatByLoops(2500, output))
    expect(() => renderLiquid('text', parsed, { customer }, 10_000)).toThrow(tooMuch(10_000))
    expect(reads).toBe(3)
  })

  it('may be exactly the limit', () => {
    const text = 'x'.repeat(1000)
    const parsed = parseLiquid('text', `{% capture a %}${text}{% endcapture %}{{ a }}`)
    expect(renderLiquid('text', parsed, {}, 2000)).toBe(text)
    expect(() => renderLiquid('text', parsed, {}, 1999)).toThrow(tooMuch(1999))
  })

  it('has a lower limit for an SMS', () => {
    const template = buildTemplate({ text: repeatByLoops(50, '{{ customer.first_name }}') })
    const findFaultAt = (length: number, limit?: number) =>
      findFault(() => personalise(template, { customer: { first_name: 'x'.repeat(length) } }, limit))
    expect([
      findFaultAt(1990, maxRenderedSmsLength),
      findFaultAt(2001, maxRenderedSmsLength),
      findFaultAt(2001),
    ]).toEqual([null, tooMuch(100_000), null])
  })
})

describe('a template that is too large with its sample values', () => {
  it.each([
    ['by captures', `<p>a</p>\n{% capture a %}${repeatByLoops(500, 'x'.repeat(2000))}{% endcapture %}`, 2],
    [
      'by what it puts out',
      `<p>a</p>\n<p>{% assign x = "${'x'.repeat(2000)}" %}</p>\n${repeatByLoops(250, '{{ x }}')}`,
      3,
    ],
    ['by doubling', `{% assign a = "xxxxxxxxxx" %}\n${'{% assign a = a | append: a %}'.repeat(30)}`, 2],
    ['by a join', '{% assign a = (1..50) | join: "x" %}\n'.repeat(500), 1],
    [
      'by a replacement',
      '\n{{ "aaaaaaaaaa" | replace: "a", "bbbbbbbbbb" | replace: "b", "cccccccccccccccccccc" }}'.repeat(80),
      1,
    ],
  ])('is refused with its place: %s', (_, source, from) => {
    const [error] = findMessageFaults({ blocks: [richText(source)] })
    expect(error).toMatchObject({ pointer: '#/blocks/0/data/text/en', code: 'template_too_large' })
    expect(Number(error?.line)).toBeGreaterThanOrEqual(from)
    expect(Number(error?.column)).toBeGreaterThanOrEqual(1)
  })
})
