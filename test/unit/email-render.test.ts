import { describe, expect, it } from 'vitest'
import { compile, decideUnsubscribe, type Template } from '../../src/domain/email/compile.ts'
import { buildSampleContext } from '../../src/domain/email/liquid/variables.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { trackable } from '../../src/domain/email/trackable.ts'
import { toBcp47, languages } from '../../src/domain/languages.ts'
import { buildTrackableSms } from '../../src/domain/messaging/sms.ts'
import { richText } from '../support/hostile.ts'
import { aMessageOf, framing, oneOfEach, outline } from '../support/messages.ts'

const blocks = oneOfEach.map((block) => [block.type, block] as const)

describe.each(blocks)('a block of type %s', (_, block) => {
  it.each(languages)('reads in %s as it was stored', (language) => {
    const message = personalise(compile(aMessageOf(block), language, framing), buildSampleContext(language))
    expect({
      subject: message.subject,
      html: outline(message.html),
      text: message.text.split('\n'),
    }).toMatchSnapshot()
  })
})

describe('a rendered message', () => {
  const all = aMessageOf(...oneOfEach)

  it.each(languages)('declares in %s its language and its support of dark mode', (language) => {
    const { html } = compile(all, language, framing)
    expect(html).toContain(`<html lang="${toBcp47(language)}"`)
    expect(html).toContain('name="color-scheme" content="light dark"')
    expect(html).toContain('prefers-color-scheme:dark')
    expect(html).not.toMatch(/ZQ\d+QZ|[\uE000-\uE003]|undefined|NaN|\[object/)
    expect(html).not.toMatch(/<(link|script)\b|@import|@font-face/)
  })

  it('takes less than 7 kB of HTML for three lines with links', () => {
    const text = '<p>Hello {{ customer.first_name }}, see <a href="https://example.com/a">the programme</a>,<br />'
    const three = `${text}<a href="https://example.com/b">the map</a> and<br />the prices.</p>`
    const message = aMessageOf({ id: 'three', type: 'rich_text', data: { text: { en: three } } })
    expect(compile(message, 'en', framing).html.length).toBeLessThan(7000)
  })

  it.each(['yes', 'no'])('is the same when its link to unsubscribe is decided before: %s', (hasLink) => {
    const template = trackable(compile(all, 'en', framing))
    const sample = { ...buildSampleContext(), tracking: { links: template.links, pixel: 'https://example.com/p' } }
    const context = hasLink === 'yes' ? sample : { ...sample, links: {} }
    const decided = decideUnsubscribe(template, hasLink === 'yes')
    expect([decided.html, decided.text].join('')).not.toContain('unless links.unsubscribe')
    expect(personalise(decided, context)).toEqual(personalise(template, context))
  })

  it('has a footer with an unsubscribe link, with and without a footer block', () => {
    const heading = oneOfEach.find((block) => block.type === 'heading')
    if (!heading) throw new Error('no heading')
    const template = compile(aMessageOf(heading), 'da', framing)
    const message = personalise(template, buildSampleContext())
    expect(message.html).toContain('>Afmeld</a>')
    expect(message.text.trimEnd().split('\n').slice(-2)).toEqual([
      'Nordlys ApS',
      'Afmeld: https://example.com/unsubscribe',
    ])
    const without = personalise(template, { ...buildSampleContext(), links: {} })
    expect(without.html).not.toContain('Afmeld')
    expect(without.text).not.toContain('Afmeld')
  })

  it('shows texts in the language, its default, English or any other, in that order', () => {
    const compileHeading = (text: object) =>
      compile(aMessageOf({ id: 'x', type: 'heading', data: { text } }), 'pl', { ...framing, defaultLanguage: 'da' })
        .text
    expect(compileHeading({ en: 'English', da: 'Dansk', pl: 'Polski' })).toContain('Polski')
    expect(compileHeading({ en: 'English', da: 'Dansk', pl: ' ' })).toContain('Dansk')
    expect(compileHeading({ en: 'English', nl: 'Nederlands' })).toContain('English')
    expect(compileHeading({ nl: 'Nederlands' })).toContain('Nederlands')
  })

  it('shows values of recipients as text', () => {
    const block = { id: 'x', type: 'heading', data: { text: { en: 'Hi {{ customer.first_name }}' } } } as const
    const template = compile({ ...aMessageOf(block), subject: { en: 'For {{ customer.first_name }}' } }, 'en', framing)
    const first_name = `<img src=x onerror="alert(1)">'{{ links.unsubscribe }}\r\nBcc: all@example.com`
    const message = personalise(template, { customer: { first_name } })
    expect(message.html).not.toContain('<img')
    expect(message.html).toContain('&lt;img src=x onerror=&#34;alert(1)&#34;&gt;&#39;{{ links.unsubscribe }}')
    expect(message.subject).toBe(`For <img src=x onerror="alert(1)">'{{ links.unsubscribe }} Bcc: all@example.com`)
    expect(message.subject).not.toMatch(/[\r\n]/)
  })

  it.each(['\r\n', '\n', '\r', '\u2028', '\u2029', '\u0085', '\v', '\0'])(
    'has a subject of one line, even if a name contains %j',
    (end) => {
      const template = compile({ ...aMessageOf(), subject: { en: 'Hi {{ customer.last_name }}!' } }, 'en', framing)
      expect(personalise(template, { customer: { last_name: `A${end}Bcc: x@example.com` } }).subject).toBe(
        'Hi A Bcc: x@example.com!',
      )
    },
  )

  it('lists lines of an order up to a limit, and the number of the others', () => {
    const block = { id: 'x', type: 'order_summary', data: {} } as const
    const template = compile(aMessageOf(block), 'en', framing)
    const items = Array.from({ length: 53 }, (_, index) => ({
      name: `Item ${index + 1}`,
      quantity: 1,
      total: '1.00 DKK',
    }))
    const message = personalise(template, { order: { items, total: '53.00 DKK' } })
    expect([message.html.includes('Item 50<'), message.html.includes('Item 51<')]).toEqual([true, false])
    expect(message.html).toContain('Further lines: 3')
    expect(message.text).toContain('Further lines: 3')
    expect(message.html).not.toContain('Discount')
  })
})

describe('a value in a link', () => {
  const render = (url: string, values: object, html = `<a href="${url}">there</a>`) => {
    const button = { id: 'b', type: 'button', data: { text: { en: 'Go' }, url } } as const
    const template = compile(aMessageOf(button, richText(html)), 'en', framing)
    const message = personalise(template, values)
    const links = outline(message.html).filter((line) => line.startsWith('link ') && !line.includes('unsubscribe'))
    return { links: links.map((line) => line.slice(5)), text: message.text, html: message.html }
  }
  const customer = (first_name: string) => ({ customer: { first_name } })

  it.each([
    ['https://x.example/?n={{ customer.first_name }}', 'Bo & Søn', 'https://x.example/?n=Bo%20%26%20S%C3%B8n'],
    ['https://x.example/?n={{ customer.first_name }}&a=1', 'a b"c', 'https://x.example/?n=a%20b%22c&a=1'],
    [
      'https://x.example/{{customer.first_name}}/{{ customer.first_name -}}',
      '1/2 ?',
      'https://x.example/1%2F2%20%3F/1%2F2%20%3F',
    ],
    ['https://x.example/#{{ customer.first_name }}', '100% #1+1', 'https://x.example/#100%25%20%231%2B1'],
    ['https://x.example/?n={{ customer.first_name | upcase }}', 'ø=', 'https://x.example/?n=%C3%98%3D'],
    ['https://x.example/?n={{ customer.first_name | url_encode }}', 'Bo & Søn', 'https://x.example/?n=Bo+%26+S%C3%B8n'],
    [
      'https://x.example/?n={{ customer.first_name }}',
      'javascript:alert(1)',
      'https://x.example/?n=javascript%3Aalert(1)',
    ],
    ['https://x.example/?n={{ customer.first_name }}', '" onclick="x', 'https://x.example/?n=%22%20onclick%3D%22x'],
    ['https://x.example/?n={{ customer.first_name | split: "" | first }}', '😀', 'https://x.example/?n=%EF%BF%BD'],
    [
      'mailto:{{ customer.first_name }}?subject={{ customer.first_name }}',
      'a+b@x.dk',
      'mailto:a+b@x.dk?subject=a%2Bb%40x.dk',
    ],
    ['tel:{{ customer.first_name }}', '+4520123456', 'tel:+4520123456'],
  ])('stays one part of the link: %s with %s', (url, value, link) => {
    const message = render(url.replaceAll('"', "'"), customer(value))
    expect(message.links).toEqual([link, link])
    expect(message.text).toContain(`Go: ${link}`)
    expect(message.text).toContain(`there (${link})`)
    expect(message.html).not.toContain('onclick="')
  })

  it('may be the whole link', () => {
    const portal = 'https://portal.example/å?a=1&b=2#c'
    const message = render('{{ links.portal }}', { links: { portal } })
    expect(message.links).toEqual([portal, portal])
    expect(message.text).toContain(`Go: ${portal}`)
  })

  it('is encoded in links of plain text and of an SMS, and nowhere else', () => {
    const url = 'https://x.example/?n={{ customer.first_name }}'
    const message = render(
      url,
      customer('Bo & Søn'),
      `<p>{{ customer.first_name }}: ${url}, or {{ customer.first_name }}</p>`,
    )
    const encoded = 'https://x.example/?n=Bo%20%26%20S%C3%B8n'
    expect(message.text).toContain(`Bo & Søn: ${encoded}, or Bo & Søn`)
    const sms = buildTrackableSms(`{{ customer.first_name }}: ${url} x`, 'en', false)
    expect(personalise(sms, customer('Bo & Søn')).text).toBe(`Bo & Søn: ${encoded} x`)
  })
})

describe('a message with tracked links', () => {
  const fullMessage = aMessageOf(...oneOfEach)
  const template = compile(fullMessage, 'en', framing)
  const tracked = trackable(template)

  it('counts each link once, and no link with Liquid in it', () => {
    expect(tracked.links).toEqual([
      'https://example.com/list?a=1&b=en',
      'https://example.com/poster',
      'https://example.com/right',
      'https://instagram.com/nordlys',
      'https://example.com',
    ])
    expect(tracked.html).toContain('href="{{ links.unsubscribe }}"')
    expect(tracked.html).toContain('href="https://example.com/buy?e={{ customer.email | url_encode }}"')
    expect(tracked.html.match(/href="https?:/g)).toHaveLength(1)
    expect([tracked.text, template.links]).toEqual([template.text, []])
  })

  it('has links that counted ones replace when it is sent', () => {
    const links = tracked.links.map((_, index) => `https://api.example/t/c/${index}?x=1&y=2`)
    const message = personalise(tracked, {
      ...buildSampleContext(),
      tracking: { links, pixel: 'https://api.example/t/o/1' },
    })
    expect(message.html).toContain('href="https://api.example/t/c/3?x=1&amp;y=2"')
    expect(message.html).toMatch(/<img src="https:\/\/api\.example\/t\/o\/1" width="1"[^>]*><\/body>/)
    expect(message.text).toContain('Instagram: https://instagram.com/nordlys')
  })

  it('keeps links to mail and telephone, and links that are already counted', () => {
    const html = '<body><a href="mailto:a@b.dk">a</a><a class="x" href="tel:+45">b</a><link href="https://x.dk"></body>'
    const plain: Template = { subject: '', html, text: '', links: [] }
    expect(trackable(plain).links).toEqual([])
  })
})
