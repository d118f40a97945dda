import { beforeAll, describe, expect, it } from 'vitest'
import { emailMessageTypes } from '../../src/domain/messaging/email-messages.ts'
import type { EmailMessageType } from '../../src/domain/messaging/email-messages.ts'
import { get, post } from '../support/api.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { buildWorld, type World } from '../support/world.ts'

interface Variable {
  variable: string
  sample: string
  list?: string
  name?: string
  loop?: string
  message_types?: string[]
}

let world: World
let listed: Variable[]
beforeAll(async () => {
  world = await buildWorld()
  const { body } = await get('/v1/email-messages/template-variables', world.people.EV.token)
  listed = body.categories.flatMap(({ variables }: { variables: Variable[] }) => variables)
})

const ofType = (type: EmailMessageType) =>
  seedMessage({ organization: world.a.id, edition: world.a.editions[0].id }, { type })
const preview = async (id: string, source: string, more: object = {}) => {
  const blocks = [{ type: 'rich_text', data: { text: { en: source } } }]
  return (
    await post(`/v1/email-messages/${id}/preview`, { blocks, subject: { en: 'x' }, ...more }, world.people.EV.token)
  ).body
}

describe('the variables of templates', () => {
  it('name their list, its loop and the variable inside the loop', () => {
    expect(listed.find(({ name }) => name === 'item.name')).toEqual({
      variable: 'item.name',
      description: 'Name of the product.',
      sample: 'Day ticket',
      list: 'order.items',
      name: 'item.name',
      loop: '{% for item in order.items %}{{ item.name }}{% endfor %}',
      message_types: expect.arrayContaining(emailMessageTypes.filter((type) => type !== 'campaign')),
    })
    expect(listed.map(({ variable }) => variable).filter((name) => !/^[a-z_]+\.[a-z_]+$/.test(name))).toEqual([])
  })

  it.each(emailMessageTypes)('each show a value without a warning in a message of type %s', async (type) => {
    const id = await ofType(type)
    const here = listed.filter(({ message_types }) => message_types?.includes(type) ?? true)
    expect(here.length).toBeGreaterThan(type === 'campaign' ? 12 : 30)
    const source = here.map(({ variable, loop }) => `<p>${variable}=[${loop ?? `{{ ${variable} }}`}]</p>`).join('')
    const { text, unknown_variables } = await preview(id, source)
    expect(unknown_variables).toEqual([])
    const renderedValues = new Map(
      [...text.matchAll(/^([a-z_.]+)=\[(.*)\]$/gm)].map(([, name, value]) => [name, value]),
    )
    expect(renderedValues.size).toBe(here.length)
    for (const { variable, sample, list } of here) {
      if (list) expect([variable, renderedValues.get(variable)]).toEqual([variable, expect.stringContaining(sample)])
      else expect([variable, renderedValues.get(variable)]).toEqual([variable, sample])
    }
  })

  it('get a suggestion that works when they are used outside of their loop, or are unknown in it', async () => {
    const id = await ofType('receipt')
    const source =
      '{{ item.name }}{% for line in order.items %}{{ line.nam }}{{ line.total }}{% endfor %}{{ item.colour }}{{ order.items.first.named }}'
    const { unknown_variables } = await preview(id, source)
    expect(unknown_variables).toEqual([
      { variable: 'item.name', suggestion: '{% for item in order.items %}{{ item.name }}{% endfor %}' },
      { variable: 'item.nam', suggestion: 'item.name' },
      { variable: 'item.colour', suggestion: null },
      { variable: 'item.named', suggestion: 'item.name' },
    ])
  })
})

describe('links.unsubscribe', () => {
  it('exists only in campaigns', () => {
    expect(listed.find(({ variable }) => variable === 'links.unsubscribe')?.message_types).toEqual(['campaign'])
  })

  it('shows a link in a campaign', async () => {
    const { text, html, unknown_variables } = await preview(await ofType('campaign'), 'Out: {{ links.unsubscribe }}')
    expect([unknown_variables, text]).toEqual([[], expect.stringContaining('Out: https://example.com/unsubscribe')])
    expect(html).toContain('>Unsubscribe</a>')
  })

  it.each(emailMessageTypes.filter((type) => type !== 'campaign'))(
    'brings a warning and shows nothing in a message of type %s, whatever value is passed',
    async (type) => {
      const context = { links: { unsubscribe: 'https://evil.example/out' } }
      const { text, html, unknown_variables } = await preview(await ofType(type), 'Out: [{{ links.unsubscribe }}]', {
        context,
      })
      expect(unknown_variables).toEqual([{ variable: 'links.unsubscribe', suggestion: null }])
      expect(text).toContain('Out: []')
      expect(text + html).not.toMatch(/evil|Unsubscribe|example\.com\/unsubscribe/)
    },
  )
})
