import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Budget } from '../../src/domain/email/budget.ts'
import { type Output, type Parsed, parse, render } from '../../src/domain/email/liquid/liquid.ts'

interface Node extends Parsed {
  templates?: Parsed[]
  elseTemplates?: Parsed[]
  branches?: { templates: Parsed[] }[]
}

/** As LiquidJS parsed it: what is its own of `render` is ours. Answers how many outputs were ours. */
function withoutOurs(nodes: readonly Parsed[]): number {
  return (nodes as readonly Node[]).reduce((sum, node) => {
    const inner = [node.templates, node.elseTemplates, ...(node.branches ?? []).map(({ templates }) => templates)]
    const isOurs = Object.hasOwn(node, 'render')
    if (isOurs) delete (node as Partial<Node>).render
    return inner.reduce((count, some) => count + (some ? withoutOurs(some) : 0), sum + Number(isOurs))
  }, 0)
}

const name = fc.constantFrom('first_name', 'last_name', 'email', 'size', 'first', 'last', 'toString', 'nothing')
const root = fc.constantFrom('customer', 'order', 'tracking', 'item', 'links')
const variable = fc.oneof(
  fc.tuple(root, name).map(([one, two]) => `${one}.${two}`),
  fc.constantFrom('tracking.links[0]', 'tracking.links[1]', 'tracking.links[7]', 'order.items[0]', 'customer.email[0]'),
  fc.constantFrom('item', 'customer', 'links.portal.deeper', 'order.total', 'order.items', 'tracking.links.first'),
)
const output = fc
  .tuple(
    variable,
    fc.constantFrom('', '', '', ' | upcase', ' | default: "x"'),
    fc.constantFrom(['{{', '}}'], ['{{-', '-}}']),
  )
  .map(([path, filter, [open, close]]) => `${open} ${path}${filter} ${close}`)
const plain = fc.constantFrom('Hello ', '\n  ', '<b>', '</b> &amp; ', '"', '')

const { text: template } = fc.letrec<{ text: string; piece: string }>((tie) => ({
  text: fc.array(tie('piece'), { maxLength: 6 }).map((pieces) => pieces.join('')),
  piece: fc.oneof(
    { maxDepth: 3 },
    { weight: 6, arbitrary: fc.oneof(output, plain) },
    fc
      .tuple(variable, tie('text'), tie('text'))
      .map(([of, one, two]) => `{% if ${of} %}${one}{% else %}${two}{% endif %}`),
    fc.tuple(variable, tie('text')).map(([of, one]) => `{% unless ${of} == "a" %}${one}{% endunless %}`),
    fc
      .tuple(variable, tie('text'), fc.constantFrom('', '{% else %}none', '{% elsif customer.email %}more'))
      .map(([of, one, rest]) => `{% unless ${of} == blank %}${one}${rest}{% endunless %}`),
    fc.tuple(root, tie('text')).map(([of, one]) => `{% for ${of} in order.items %}${one}{% else %}none{% endfor %}`),
    fc.tuple(root, tie('text')).map(([of, one]) => `{% capture ${of} %}${one}{% endcapture %}`),
    fc.tuple(root, variable).map(([of, path]) => `{% assign ${of} = ${path} %}`),
    fc.tuple(variable, tie('text')).map(([of, one]) => `{% case ${of} %}{% when "a" %}${one}{% else %}b{% endcase %}`),
  ),
}))

const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'Ægir & "Søn" <x>', "O'Brien", '', 'x'.repeat(40)) },
  fc.constantFrom(null, 3, 0.5, true, ['a', 'b'], { first_name: 'inner' }),
)
const person = fc.record(
  { first_name: value, last_name: value, email: value, size: value, first: value },
  { requiredKeys: [] },
)
const context = fc.record(
  {
    customer: fc.oneof({ weight: 5, arbitrary: person }, value),
    order: fc.record(
      { items: fc.oneof(fc.array(person, { maxLength: 3 }), value), total: value },
      { requiredKeys: [] },
    ),
    tracking: fc.record({ links: fc.oneof(fc.array(value, { maxLength: 3 }), value) }),
    links: fc.record({ portal: value, email: value }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)

/** What is written, or how it ends, and what is left of both budgets. */
function outcomeOf(of: Output, parsed: Parsed[], values: object, most: number) {
  const budgets = { length: new Budget(most), filters: new Budget(most) }
  const leftOf = (budget: Budget) => {
    let spent = 0
    for (let step = 1024; step >= 1; step /= 2)
      try {
        for (; spent < 100_000; spent += step) budget.spend(step)
      } catch {
        // It was less.
      }
    return spent
  }
  let written: string
  try {
    written = render(of, parsed, values, budgets).text
  } catch (error) {
    written = `fails: ${String(error)}`
  }
  return { written, length: leftOf(budgets.length), filters: leftOf(budgets.filters) }
}

describe('variables that are written without LiquidJS', () => {
  it('are the same text, the same failure and the same charge for any template and person', () => {
    let ours = 0
    fc.assert(
      fc.property(
        template,
        context,
        fc.constantFrom<Output>('html', 'text'),
        fc.constantFrom(20, 90, 100_000),
        (text, values, of, most) => {
          const [quick, reference] = [parse(of, text), parse(of, text)]
          ours += withoutOurs(reference)
          expect(outcomeOf(of, quick, values, most)).toEqual(outcomeOf(of, reference, values, most))
        },
      ),
      { numRuns: 1500 },
    )
    expect(ours).toBeGreaterThan(1000)
  })
})
