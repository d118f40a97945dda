import { Parser } from 'htmlparser2'
import type { Block } from '../../src/domain/email/blocks/blocks.ts'
import type { Message } from '../../src/domain/email/compile.ts'
import { languages, type TranslatedDict } from '../../src/domain/languages.ts'

const inAll = (text: (language: string) => string): TranslatedDict =>
  Object.fromEntries(languages.map((language) => [language, text(language)]))

/** One block of each type, with a text in each language. */
export const oneOfEach: readonly Block[] = [
  {
    id: 'rich_text',
    type: 'rich_text',
    data: {
      text: inAll(
        (language) =>
          `<p>Hello ${language} <b>{{ customer.first_name }}</b>, 5 &lt; 6.</p><ul><li>One</li><li><a href="https://example.com/list?a=1&amp;b=${language}">Two</a></li></ul>`,
      ),
    },
  },
  { id: 'heading', type: 'heading', data: { text: inAll((language) => `Heading ${language} & {{ edition.name }}`) } },
  {
    id: 'image',
    type: 'image',
    data: {
      url: 'https://example.com/poster.png',
      alt: inAll((language) => `Poster "${language}"`),
      link: 'https://example.com/poster',
      width: 320,
      border_radius: 8,
    },
  },
  {
    id: 'button',
    type: 'button',
    data: {
      text: inAll((language) => `Button ${language}`),
      url: 'https://example.com/buy?e={{ customer.email | url_encode }}',
    },
  },
  { id: 'divider', type: 'divider', data: { style: 'dashed', thickness: 2 } },
  { id: 'spacer', type: 'spacer', data: { height: 30 } },
  {
    id: 'columns',
    type: 'columns',
    data: {
      columns: [
        {
          width: 60,
          blocks: [{ id: 'left', type: 'heading', data: { text: inAll((language) => `Left ${language}`), level: 3 } }],
        },
        {
          blocks: [
            {
              id: 'right',
              type: 'button',
              data: { text: inAll((language) => `Right ${language}`), url: 'https://example.com/right' },
            },
          ],
        },
      ],
    },
  },
  { id: 'order_summary', type: 'order_summary', data: { title: inAll((language) => `Order ${language}`) } },
  {
    id: 'social',
    type: 'social',
    data: {
      links: [
        { network: 'instagram', url: 'https://instagram.com/nordlys' },
        { network: 'website', url: 'https://example.com' },
      ],
    },
  },
  { id: 'footer', type: 'footer', data: { text: inAll((language) => `<p>Street 1, ${language}</p>`) } },
]

export const aMessageOf = (...blocks: Block[]): Message => ({
  subject: inAll((language) => `Subject ${language} {{ order.number }}`),
  blocks,
  template: 'modern',
})

export const framing = { defaultLanguage: 'en', title: 'Nordlys Festival', sender: 'Nordlys ApS' } as const

/** Lists the texts, links and images that a reader sees, in their order. Comments for Outlook are left out. */
export function outline(html: string): string[] {
  const parts: string[] = []
  let hidden = 0
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'style' || name === 'title' || name === 'head') hidden++
      if (name === 'a') parts.push(`link ${attributes['href']}`)
      if (name === 'img') parts.push(`image ${attributes['src']} ${attributes['alt']}`)
    },
    ontext(text) {
      const plain = text.replaceAll(/[\s\u200A\u00A0]+/g, ' ').trim()
      if (hidden === 0 && plain) parts.push(plain)
    },
    onclosetag(name) {
      if (name === 'style' || name === 'title' || name === 'head') hidden--
    },
  })
  parser.end(html)
  return parts
}
