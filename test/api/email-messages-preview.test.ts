import { beforeAll, describe, expect, it } from 'vitest'
import { get, post, type Reply } from '../support/api.ts'
import { dump } from '../support/dump.ts'
import { seedToken } from '../support/seeding/members.ts'
import { aBlock, seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { buildWorld, type World } from '../support/world.ts'

let world: World
let id: string
beforeAll(async () => {
  world = await buildWorld()
  id = await seedMessage({ organization: world.a.id, edition: world.a.editions[0].id })
})

const preview = (body: Record<string, unknown>, token = world.people.EV.token): Promise<Reply> =>
  post(`/v1/email-messages/${id}/preview`, body, token)
const text = (en: string, more: Record<string, string> = {}) => ({
  type: 'rich_text',
  data: { text: { en, ...more } },
})

describe('previewEmailMessage', () => {
  it('shows the message as it is sent, with sample values', async () => {
    const { body, status } = await preview({})
    expect(status).toBe(200)
    expect(body.subject).toBe('Hello Astrid')
    expect(body.html).toMatch(/^<!doctype html><html lang="en"/)
    expect(body.html).toContain('<p>Welcome</p>')
    expect(body.text).toContain('Welcome')
    expect(body.size_bytes).toBe(new TextEncoder().encode(body.html).length)
    expect([body.missing_translations, body.unknown_variables]).toEqual([[], []])
  })

  it('shows another language with its blocks, subject and values, and saves nothing', async () => {
    const before = await dump()
    const { body } = await preview({
      language: 'se',
      blocks: [
        text('<p>Hi {{ customer.first_name }} of {{ edition.name }}</p>', {
          se: '<p>Hej {{ customer.first_name }}</p>',
        }),
      ],
      subject: { en: 'Hi {{ order.items[0].name }}', se: 'Hej {{ order.items[0].name }}' },
      context: { customer: { first_name: 'Ægir <b>&' }, order: { items: [{ name: 'Tält' }] } },
    })
    expect(body.html).toContain('<html lang="sv"')
    expect(body.html).toContain('Hej Ægir &lt;b&gt;&amp;</p>')
    expect(body.subject).toBe('Hej Tält')
    expect(body.text).toContain('Hej Ægir <b>&')
    expect(await dump()).toEqual(before)
  })

  it('refuses invalid values, and values that make the message too large', async () => {
    const previewText = async (en: string, context: object) => {
      const { status, body } = await preview({ blocks: [text(en)], context })
      return [status, body.errors?.[0] && `${body.errors[0].pointer} ${body.errors[0].code}`]
    }
    expect(
      await previewText('{{ customer.first_name }}', { customer: { first_name: { toString: 'x', valueOf: 2 } } }),
    ).toEqual([200, undefined])
    const items = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, 1]))
    const { status, body } = await preview({
      blocks: [text('<p>a{% for i in order.items %}x{% endfor %}b</p>')],
      context: { order: { items } },
    })
    expect([status, body.text]).toEqual([200, expect.stringMatching(/^ab\n/)])
    expect(await previewText('x', { order: { items: { length: 100 } }, links: 'x', customer: null })).toEqual([
      200,
      undefined,
    ])
  })

  it('points at the line and column of the text that values make too large, and saves nothing', async () => {
    const before = await dump()
    const loops = (inside: string) => `{% for i in (1..8) %}{% for j in (1..50) %}${inside}{% endfor %}{% endfor %}`
    const name = loops('{{ customer.first_name }}')
    const context = { customer: { first_name: 'x'.repeat(15_000) } }
    const harmless = text('<p>{{ customer.first_name }}</p>')
    const heading = (en: string) => ({ type: 'heading', data: { text: { en } } })
    const cases: [Record<string, unknown>, string, number][] = [
      [{ blocks: [harmless, text(`<p>a</p>\n${name}`)] }, '#/blocks/1/data/text/en', 2],
      [{ blocks: [harmless, heading(name)] }, '#/blocks/1/data/text/en', 1],
      [{ blocks: [text(`{% capture a %}${name}{% endcapture %}`)] }, '#/blocks/0/data/text/en', 1],
      [
        { blocks: [{ type: 'image', data: { url: 'https://a.example/x.png', alt: { en: name } } }] },
        '#/blocks/0/data/alt/en',
        1,
      ],
      [
        {
          blocks: [
            {
              type: 'button',
              data: { text: { en: 'x' }, url: `https://a.example/?${'{{ customer.first_name }}'.repeat(70)}` },
            },
          ],
        },
        '#/blocks/0/data/url',
        1,
      ],
      [{ blocks: [harmless], subject: { en: name } }, '#/subject/en', 1],
      [{ blocks: [harmless], subject: { da: name }, language: 'da' }, '#/subject/da', 1],
    ]
    for (const [body, pointer, line] of cases) {
      const reply = await preview({ ...body, context })
      expect([pointer, reply.status, reply.body.errors?.length]).toEqual([pointer, 400, 1])
      expect(reply.body.errors[0]).toMatchObject({ pointer, code: 'template_too_large', line })
      expect(reply.body.errors[0].column).toBeGreaterThanOrEqual(1)
    }
    expect(await dump()).toEqual(before)
  })

  it('points at the values when the stored text is rendered', async () => {
    const en = '{% for i in (1..50) %}{% for j in (1..50) %}{{ customer.first_name }}{% endfor %}{% endfor %}'
    const stored = await seedMessage({ organization: world.a.id, edition: world.a.editions[0].id }, { subject: { en } })
    const reply = await post(
      `/v1/email-messages/${stored}/preview`,
      { context: { customer: { first_name: 'x'.repeat(15_000) } } },
      world.people.EV.token,
    )
    expect([reply.status, reply.body.errors]).toMatchObject([
      400,
      [{ pointer: '#/context', code: 'template_too_large', detail: expect.stringContaining('subject.en'), line: 1 }],
    ])
  })

  it('returns only the markup for the format html', async () => {
    const { body } = await preview({
      mode: 'html',
      blocks: [text('<p onclick="x()">Hi <i>you</i></p><script>1</script>')],
    })
    expect(body.html).toBe('<p>Hi <i>you</i></p>')
  })

  it('names texts that lack the language, and the language that replaces it', async () => {
    const { body } = await preview({
      language: 'pl',
      subject: { da: 'Kun dansk' },
      blocks: [text('<p>English</p>'), text('', { pl: '<p>Polski</p>' }), text('', { nl: '<p>Hoi</p>' })],
    })
    expect(body.missing_translations).toEqual([
      { pointer: '#/subject', language: 'pl', fallback: 'da' },
      { pointer: '#/blocks/0/data/text', language: 'pl', fallback: 'en' },
      { pointer: '#/blocks/2/data/text', language: 'pl', fallback: 'nl' },
    ])
    expect(body.subject).toBe('Kun dansk')
    expect(body.text).toContain('English')
  })

  it('names unknown variables, and suggests similar ones', async () => {
    const source =
      '{{ customer.firstname }}{{ order.total }}{{ secret }}{% for line in order.items %}{{ line.nam }}{{ line.total }}{{ forloop.index }}{% endfor %}{% assign mine = 1 %}{{ mine }}{{ order.items.size }}'
    const { body } = await preview({ blocks: [text(source)] })
    expect(body.unknown_variables).toEqual([
      { variable: 'customer.firstname', suggestion: 'customer.first_name' },
      { variable: 'secret', suggestion: null },
      { variable: 'item.nam', suggestion: 'item.name' },
    ])
  })

  it('has links to web pages only, for any values', async () => {
    const blocks = [{ type: 'button', data: { text: { en: 'Open' }, url: '{{ links.portal }}' } }]
    for (const portal of ['javascript:alert(1)', 'data:text/html,x', ' java\nscript:x', '//evil.example', { a: 1 }]) {
      const { body } = await preview({ blocks, context: { links: { portal } } })
      expect(body.html).not.toMatch(/javascript|data:text|evil\.example/i)
    }
    const { body } = await preview({ blocks, context: { links: { portal: 'https://tickets.example/?a=1&b="2' } } })
    expect(body.html).not.toContain('"2')
  })

  it('accepts values of wrong types without an error', async () => {
    const context = JSON.parse(
      '{"__proto__": {"polluted": "yes"}, "constructor": {"x": 1}, "customer": null, "order": "x"}',
    )
    const { status, body } = await preview({
      context,
      blocks: [text('<p>{{ customer.first_name }}{{ polluted }}.</p>')],
    })
    expect([status, body.text.startsWith('.')]).toEqual([200, true])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('limits the content of the request as saving does', async () => {
    const reply = await preview({ blocks: [aBlock('fine'), text('{% if %}')], subject: { en: 'fine' } })
    expect([reply.status, reply.body.errors[0].pointer, reply.body.errors[0].code]).toEqual([
      400,
      '#/blocks/1/data/text/en',
      'invalid_template',
    ])
    expect((await preview({ mode: 'text' })).status).toBe(400)
    expect((await preview({ language: 'fr' })).body.errors[0].pointer).toBe('#/language')
  })

  it('is allowed with read-only tokens', async () => {
    const { token } = await seedToken(world.people.OV.account, { scopes: ['read'] })
    expect((await preview({}, token)).status).toBe(200)
  })
})

describe('listTemplateVariables', () => {
  it('lists every variable with its meaning and a sample value', async () => {
    const { body } = await get('/v1/email-messages/template-variables', world.people.EV.token)
    expect(body.categories.map(({ name }: { name: string }) => name)).toEqual([
      'customer',
      'order',
      'edition',
      'organization',
      'purchase',
      'refund',
      'campaign',
      'links',
    ])
    expect(body.categories[0].variables[0]).toEqual({
      variable: 'customer.first_name',
      description: 'First name of the recipient.',
      sample: 'Astrid',
    })
  })
})
