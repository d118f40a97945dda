import { describe, expect, it } from 'vitest'
import { findMessageFaults } from '../../src/domain/email/check.ts'
import { renderTemplate, richText, timed } from '../support/hostile.ts'

const nestLoops = (depth: number, inside: string) =>
  '{% for i in (1..50) %}'.repeat(depth) + inside + '{% endfor %}'.repeat(depth)

describe('a Liquid template', () => {
  it.each([
    ['three loops in each other', nestLoops(3, 'x')],
    ['three short loops in each other', nestLoops(3, 'x').replaceAll('50', '2')],
    ['two long loops with much in them', nestLoops(2, '{{ customer.first_name }}{{ order.number }}{{ order.total }}')],
    ['two long loops around long text', nestLoops(2, 'x'.repeat(5000))],
    ['a long range', '{% for i in (1..1000000) %}x{% endfor %}'],
    ['a range of unknown length', '{% for i in (1..order.number) %}x{% endfor %}'],
    ['a loop over what a template made', '{% assign a = "1,2" | split: "," %}{% for i in a %}x{% endfor %}'],
    ['a loop over a text', '{% for i in customer.first_name %}x{% endfor %}'],
    ['a loop that hides a category', '{% for customer in order.items %}x{% endfor %}'],
    ['an include', '{% include "x" %}'],
    ['a render', '{% render "x" %}'],
    ['a layout', '{% layout "x" %}{% block a %}{% endblock %}'],
    ['a table row', '{% tablerow i in order.items %}x{% endtablerow %}'],
    ['a counter', '{% increment x %}'],
    ['many statements', '{% liquid\nassign x = 1\n%}'],
    ['an echo', '{% echo "<b>" %}'],
    ['the filter that lets markup through', '{{ "<b>" | raw }}'],
    ['a filter that runs expressions', '{{ order.items | where_exp: "x", "x.y" }}'],
    ['an unknown filter', '{{ "x" | no_such_filter }}'],
    ['an unknown tag', '{% no_such_tag %}'],
    ['an output that does not end', 'a {{ customer.first_name'],
    ['a tag that does not end', 'a {% if customer'],
    ['a block that does not end', '{% if customer.first_name %}x'],
    ['an end without a beginning', 'x{% endif %}'],
    ['doubling', `{% assign a = "xxxxxxxxxx" %}${'{% assign a = a | append: a %}'.repeat(30)}{{ a }}`],
    [
      'doubling by captures',
      `{% assign a = "xxxxxxxxxx" %}${'{% capture a %}{{ a }}{{ a }}{% endcapture %}'.repeat(30)}`,
    ],
    ['a date of a million characters', '{{ "now" | date: "%1000000Y" }}'],
    [
      'a replacement that grows',
      '{{ "aaaaaaaaaaaaaaaaaaaa" | replace: "a", "bbbbbbbbbbbbbbbbbbbb" | replace: "b", "cccccccccccccccccccc" | replace: "c", "dddddddddddddddddddd" }}',
    ],
    ['tags a hundred deep', '{% if true %}'.repeat(100) + '{% endif %}'.repeat(100)],
    ['too much of it', '{{ order.number }}'.repeat(1200)],
    ['conditions without end inside loops', nestLoops(2, `{% if ${'a or '.repeat(100)}b %}x{% endif %}`)],
  ])('is refused with %s', (_, source) => {
    const errors = timed(() => findMessageFaults({ blocks: [richText(source)] }))
    expect(errors[0]?.code).toMatch(/^(invalid_template|template_too_large)$/)
    expect([errors[0]?.line, errors[0]?.column].every((place) => Number(place) >= 1)).toBe(true)
  })

  it.each([
    [
      'prototypes',
      '{{ customer.__proto__ }}{{ customer.constructor }}{{ customer.constructor.constructor }}{{ __proto__ }}{{ order.items.__proto__.constructor }}',
    ],
    [
      'own names of JavaScript',
      '{{ toString }}{{ customer.toString }}{{ customer["constructor"] }}{{ customer.hasOwnProperty }}',
    ],
    ['names of the platform', '{{ globalThis }}{{ process.env }}{{ env.DB }}{{ self }}{{ Math.PI }}'],
  ])('shows nothing of %s', (_, source) => {
    const result = renderTemplate(`<p>a${source}b</p>`)
    expect(result?.html).toContain('<p>ab</p>')
  })

  it('may use loops, conditions and variables', () => {
    const source =
      '{% assign n = 0 %}{% for item in order.items %}{% for i in (1..3) %}{% assign n = n | plus: 1 %}{% endfor %}{% endfor %}{% if n == 6 %}six{% endif %}{% case n %}{% when 6 %} sechs{% endcase %}{% unless n == 1 %} seks{% endunless %}'
    expect(renderTemplate(source)?.text).toMatch(/^six sechs seks/)
  })

  it('reports faults with line and column', () => {
    const [error] = findMessageFaults({ blocks: [richText('<p>one</p>\n<p>two {{ "x" | shout }}</p>')] })
    expect(error).toEqual({
      attr: 'blocks.0.data.text.en',
      pointer: '#/blocks/0/data/text/en',
      code: 'invalid_template',
      detail: 'There is no filter `shout` here.',
      line: 2,
      column: 8,
    })
  })

  it('stays text when it was escaped as text', () => {
    const result = renderTemplate(
      '<p>&#123;&#123; customer.first_name }} and {% raw %}{{ order.number }}{% endraw %}</p>',
    )
    expect(result?.html).toContain('<p>&#123;&#123; customer.first_name }} and &#123;&#123; order.number }}</p>')
    expect(result?.text).toMatch(/^\{\{ customer\.first_name \}\} and \{\{ order\.number \}\}/)
  })
})
