import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseLiquid, renderLiquid, TooMuchText } from '../../src/domain/email/liquid/liquid.ts'
import { LocalDate } from '../../src/domain/email/liquid/local-date.ts'

const variables = ['customer.first_name', 'customer.size', 'customer.first', 'tracking.links[0]', 'tracking.links[9]']

const values = fc.oneof(
  fc.string(),
  fc.constantFrom('', 'Vita', '<b>', `a&"b'`, '{{ customer.size }}', '\uD800', 'constructor'),
  fc.constantFrom(null, undefined, true, 5, Number.NaN, ['a', ['<']], { a: 1 }),
  fc.constant(new LocalDate(0, 'en', 'UTC', 'day')),
)

const contexts = fc.record(
  {
    customer: fc.oneof(fc.record({ first_name: values, size: values }, { requiredKeys: [] }), fc.constant(null)),
    tracking: fc.record({ links: fc.oneof(fc.array(values), fc.string(), fc.constant(undefined)) }),
  },
  { requiredKeys: [] },
)

const parts = fc.oneof(
  fc.string({ maxLength: 5 }).filter((text) => !/[{}]/.test(text)),
  fc.constantFrom(...variables).chain((name) => fc.constantFrom(`{{ ${name} }}`, `{{${name}}}`, ` {{- ${name} -}} `)),
)

/** An empty condition makes a part of LiquidJS of the whole text. */
const renderByLiquid = (output: 'html' | 'text', text: string, context: object) =>
  renderLiquid(output, parseLiquid(output, `{% if true %}${text}{% endif %}`), context, 1000)

describe.each(['html', 'text'] as const)('the simple parts of a template for %s', (output) => {
  it('are written as LiquidJS writes them, for all values', () => {
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 6 }), contexts, (texts, context) => {
        const text = texts.join('')
        const result = renderLiquid(output, parseLiquid(output, text), context, 1000)
        expect(result).toBe(renderByLiquid(output, text, context))
      }),
    )
  })

  const find = (render: () => string): number | 'too much' => {
    try {
      return render().length
    } catch (error) {
      if (error instanceof TooMuchText) return 'too much'
      throw error
    }
  }

  it('count towards the limit of a text as in LiquidJS', () => {
    const text = '{{ customer.first_name }}'.repeat(3)
    const results = [100, 166, 167, 333, 334, 400].map((length) => {
      const context = { customer: { first_name: 'x'.repeat(length) } }
      const result = find(() => renderLiquid(output, parseLiquid(output, text), context, 1000))
      expect(result).toBe(find(() => renderByLiquid(output, text, context)))
      return result
    })
    expect([results[0], results.at(-1)]).toEqual([300, 'too much'])
  })
})
