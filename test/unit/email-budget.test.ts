import { describe, expect, it } from 'vitest'
import { faultsOf } from '../../src/domain/email/check.ts'
import { filtersWhenSent, parse, render, renderFault } from '../../src/domain/email/liquid/liquid.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { Budget, maxRenderedLength, maxRenderedSmsLength } from '../../src/domain/email/budget.ts'
import { richText } from '../support/hostile.ts'

/** So often, by two loops of 50 at most. */
const repeated = (times: number, inside: string) =>
  `{% for i in (1..${times / 50}) %}{% for j in (1..50) %}${inside}{% endfor %}{% endfor %}`

const templateOf = (parts: { subject?: string; html?: string; text?: string }) => ({
  subject: '',
  html: '',
  text: '',
  links: [],
  ...parts,
})

const budgetsOf = (length: Budget) => ({ length, filters: filtersWhenSent() })

const faultOf = (work: () => unknown): string | null => {
  try {
    work()
    return null
  } catch (error) {
    return renderFault(error)
  }
}

const tooMuch = `It makes more than ${maxRenderedLength} characters of text.`
const name = 'x'.repeat(4000)
const output = '{{ customer.first_name }}'

describe('the size of a rendering', () => {
  it.each([
    ['text', { text: repeated(2500, output) }],
    ['markup', { html: repeated(2500, 'x'.repeat(1000)) }],
    ['a subject', { subject: repeated(2500, output) }],
    ['captures', { text: `{% capture a %}${repeated(2500, output)}{% endcapture %}` }],
    ['captures one after another', { text: `{% capture a %}${repeated(400, output)}{% endcapture %}`.repeat(3) }],
    ['a capture inside loops', { text: repeated(2500, `{% capture a %}${output}{% endcapture %}`) }],
    ['doubling captures', { text: '{% capture a %}{{ a }}{{ a }}xxxxxxxx{% endcapture %}'.repeat(40) }],
    [
      'captures in each other',
      { text: `{% capture a %}{% capture b %}${repeated(250, output)}{% endcapture %}{{ b }}{% endcapture %}{{ a }}` },
    ],
    ['values of lists', { text: repeated(2500, '{{ customer.many }}') }],
    ['all of it together', { html: repeated(150, 'x'.repeat(6000)), text: repeated(150, 'x'.repeat(8000)) }],
  ])('is counted during rendering: %s', (_, parts) => {
    const values = { customer: { first_name: name, many: Array.from({ length: 40 }, () => ['x'.repeat(100)]) } }
    expect(faultOf(() => personalise(templateOf(parts), values as never))).toBe(tooMuch)
  })

  it('stops at the first text beyond the limit', () => {
    const spent: number[] = []
    class Watched extends Budget {
      override spend(length: number): void {
        super.spend(length)
        if (length >= name.length) spent.push(length)
      }
    }
    const parsed = parse('text', repeated(2500, output))
    const values = { customer: { first_name: name } }
    expect(() => render('text', parsed, values, budgetsOf(new Watched(10_000)))).toThrow(/more than 10000/)
    expect(spent).toEqual([4000, 4000])
  })

  it('may be exactly at the limit', () => {
    const text = 'x'.repeat(1000)
    const parsed = parse('text', `{% capture a %}${text}{% endcapture %}{{ a }}`)
    expect(render('text', parsed, {}, budgetsOf(new Budget(2000))).text).toBe(text)
    expect(() => render('text', parsed, {}, budgetsOf(new Budget(1999)))).toThrow(/more than 1999/)
  })

  it('has a lower limit for an SMS', () => {
    const template = templateOf({ text: repeated(50, '{{ customer.first_name }}') })
    const of = (length: number, most?: number) =>
      faultOf(() => personalise(template, { customer: { first_name: 'x'.repeat(length) } }, most))
    expect([of(1990, maxRenderedSmsLength), of(2001, maxRenderedSmsLength), of(2001)]).toEqual([
      null,
      'It makes more than 100000 characters of text.',
      null,
    ])
  })
})

describe('a text that is too large with the sample values', () => {
  it.each([
    ['by captures', `<p>a</p>\n{% capture a %}${repeated(500, 'x'.repeat(2000))}{% endcapture %}`, 2],
    ['by what it puts out', `<p>a</p>\n<p>{% assign x = "${'x'.repeat(2000)}" %}</p>\n${repeated(250, '{{ x }}')}`, 3],
    ['by doubling', `{% assign a = "xxxxxxxxxx" %}\n${'{% assign a = a | append: a %}'.repeat(30)}`, 2],
    ['by a join', '{% assign a = (1..50) | join: "x" %}\n'.repeat(500), 1],
    [
      'by a replacement',
      '\n{{ "aaaaaaaaaa" | replace: "a", "bbbbbbbbbb" | replace: "b", "cccccccccccccccccccc" }}'.repeat(40),
      1,
    ],
  ])('is refused with its place: %s', (_, source, from) => {
    const [error] = faultsOf({ blocks: [richText(source)] })
    expect(error).toMatchObject({ pointer: '#/blocks/0/data/text/en', code: 'template_too_large' })
    expect(Number(error?.line)).toBeGreaterThanOrEqual(from)
    expect(Number(error?.column)).toBeGreaterThanOrEqual(1)
  })
})
