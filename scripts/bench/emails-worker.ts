import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'
import type { Block } from '../../src/domain/email/blocks/blocks.ts'
import { compile, type Message } from '../../src/domain/email/compile.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { trackable } from '../../src/domain/email/trackable.ts'
import { sampleContext, type TemplateContext } from '../../src/domain/email/liquid/variables.ts'
import { languages } from '../../src/domain/languages.ts'

/** What the bench of messages asks of the Worker: rendering alone, without a request of the API around it. */
export const emailsBench = new Hono<{ Bindings: Bindings }>()

const paragraph =
  '<p>The gates open at ten, and there is music until the sun goes down. Bring good shoes, something warm for the evening and your ticket, {{ customer.first_name }}.</p>'

const text = (id: string, en: string): Block => ({ id, type: 'rich_text', data: { text: { en } } })
const button = (id: string, url: string): Block => ({ id, type: 'button', data: { text: { en: 'Read more' }, url } })

/** Ten blocks and six links, of which Liquid has no part. */
const blocks: Block[] = [
  {
    id: '1',
    type: 'image',
    data: { url: 'https://example.com/poster.png', alt: { en: 'Poster' }, link: 'https://example.com/1' },
  },
  { id: '2', type: 'heading', data: { text: { en: 'News from {{ edition.name }}' } } },
  text('3', `<p>Hello {{ customer.full_name }},</p>${paragraph}`),
  button('4', 'https://example.com/2'),
  text('5', `${paragraph}<p>See <a href="https://example.com/3">the programme</a>.</p>`),
  { id: '6', type: 'divider', data: {} },
  { id: '7', type: 'heading', data: { text: { en: 'For {{ customer.email }}' }, level: 2 } },
  text(
    '8',
    `{% if customer.language == "en" %}${paragraph}{% endif %}<p><a href="https://example.com/4">Where to sleep</a></p>`,
  ),
  button('9', 'https://example.com/5'),
  text('10', '<p>Until then, <a href="https://example.com/6">{{ organization.name }}</a></p>'),
]

const message: Message = { subject: { en: 'News for {{ customer.first_name }}' }, blocks, template: 'modern' }
const framing = { defaultLanguage: 'en', title: 'Nordlys Festival 2026', sender: 'Nordlys' } as const
const template = () => trackable(compile(message, 'en', framing))

/** Compiles the message so many times, in all languages in turn. */
emailsBench.post('/floor/emails/compile', async (c) => {
  const { count } = await c.req.json<{ count: number }>()
  let bytes = 0
  for (let done = 0; done < count; done++)
    bytes += compile(message, languages[done % languages.length] ?? 'en', framing).html.length
  return c.json({ bytes })
})

/** Renders the message for so many recipients, none like another. */
emailsBench.post('/floor/emails/personalise', async (c) => {
  const { count } = await c.req.json<{ count: number }>()
  const tracked = template()
  const base = sampleContext()
  let bytes = 0
  for (let done = 0; done < count; done++) {
    const context: TemplateContext = {
      ...base,
      customer: {
        ...base.customer,
        first_name: `Astrid ${done}`,
        full_name: `Astrid ${done} Holm`,
        email: `a${done}@example.com`,
      },
      links: { unsubscribe: `https://example.com/u/${done}` },
      tracking: {
        links: tracked.links.map((_, index) => `https://example.com/t/c/${done}.${index}`),
        pixel: `https://example.com/t/o/${done}`,
      },
    }
    const made = personalise(tracked, context)
    bytes += made.html.length + made.text.length
  }
  return c.json({ bytes, links: tracked.links.length, template_bytes: tracked.html.length })
})
