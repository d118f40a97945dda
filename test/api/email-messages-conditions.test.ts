import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post, type Reply } from '../support/api.ts'
import { seedPeople, type UserRow } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { type Crowd, seedCrowd } from '../support/seeding/messaging/campaigns.ts'
import { aBlock, seedMessage } from '../support/seeding/messaging/email-messages.ts'

let crowd: Crowd
let danish: UserRow
let english: UserRow
beforeAll(async () => {
  crowd = await seedCrowd(0)
  const people = await seedPeople(crowd, [{ locale: 'da' }, { locale: 'en' }])
  ;[danish, english] = people as [UserRow, UserRow]
})

const path = (id: string, more = '') => `/v1/email-messages/${id}${more}`
const isDanish = 'user.locale == "da"'
const text = (en: string, condition?: string) => ({
  type: 'rich_text',
  ...(condition === undefined ? {} : { condition }),
  data: { text: { en: `<p>${en}</p>` } },
})
const columns = (...blocks: object[]) => ({ type: 'columns', data: { columns: [{ blocks }, { blocks: [] }] } })
const draft = (blocks: object[] = []) =>
  seedMessage(crowd, { type: 'campaign', subject: { en: 'News' }, blocks: blocks as never })
const errorsOf = ({ body }: Reply): string[] =>
  body.errors.map((error: { pointer: string; code: string }) => `${error.pointer} ${error.code}`)

describe('the condition of a block', () => {
  it('is stored with blocks and blocks in columns, and goes with copies', async () => {
    const id = await draft()
    const blocks = [text('All'), text('Danes', isDanish), { ...columns(text('Both', 'true')), condition: isDanish }]
    const reply = await patch(path(id), { blocks })
    expect([reply.status, reply.body.blocks]).toMatchObject([200, blocks])
    expect((await get(path(id))).body.blocks).toEqual(reply.body.blocks)
    const copy = await post(path(id, '/duplicate'), { edition_id: crowd.edition })
    expect(copy.body.blocks).toEqual(reply.body.blocks)
    expect((await patch(path(id), { blocks: reply.body.blocks })).body.blocks).toEqual(reply.body.blocks)
  })

  it('is checked like the expression of a segment, at its block', async () => {
    const id = await seedMessage(crowd, { type: 'campaign', blocks: [aBlock('Old')] })
    const before = await get(path(id))
    const faulty = [text('x', 'user.locale == '), columns(text('y', 'user.locle == "da"')), text('z', 'user.locale')]
    for (const reply of [
      await patch(path(id), { blocks: faulty }),
      await post(path(id, '/preview'), { blocks: faulty }),
    ]) {
      expect(reply.status).toBe(400)
      expect(errorsOf(reply)).toEqual([
        '#/blocks/0/condition unexpected_token',
        '#/blocks/1/data/columns/0/blocks/0/condition no_such_key',
        '#/blocks/2/condition not_boolean',
      ])
      expect(reply.body.errors[1]).toMatchObject({ line: 1, column: 1, detail: expect.stringContaining('locale') })
    }
    expect((await get(path(id))).text).toBe(before.text)
  })

  it('is bounded like the expression of a segment', async () => {
    const id = await draft()
    const long = `user.locale in [${'"da", '.repeat(700)}"da"]`
    const nested = `${'('.repeat(200)}true${')'.repeat(200)}`
    const wide = Array.from({ length: 200 }, (_, index) => `stats.order_count == ${index}`).join(' || ')
    for (const condition of [long, nested, wide, '']) {
      const reply = await patch(path(id), { blocks: [text('x', condition)] })
      expect([reply.status, errorsOf(reply)[0]]).toMatchObject([
        400,
        expect.stringMatching(/^#\/blocks\/0\/condition /),
      ])
    }
  })

  it('is one of at most eight different ones, which any number of blocks can have', async () => {
    const id = await draft()
    const eight = Array.from({ length: 8 }, (_, index) => text(`${index}`, `stats.order_count > ${index}`))
    expect((await patch(path(id), { blocks: [...eight, ...eight] })).status).toBe(200)
    const reply = await patch(path(id), { blocks: [...eight, text('ninth', 'true'), text('again', 'true')] })
    expect([reply.status, errorsOf(reply)]).toEqual([
      400,
      ['#/blocks/8/condition max_items', '#/blocks/9/condition max_items'],
    ])
  })

  it('belongs to messages of type campaign alone', async () => {
    const other = await seedMessage(crowd, { type: 'reminder' })
    expect(errorsOf(await patch(path(other), { blocks: [text('x', 'true')] }))).toEqual([
      '#/blocks/0/condition wrong_type',
    ])
    expect(errorsOf(await post(path(other, '/preview'), { blocks: [text('x', 'true')] }))).toEqual([
      '#/blocks/0/condition wrong_type',
    ])
    expect((await patch(path(other), { type: 'campaign', blocks: [text('x', 'true')] })).status).toBe(200)
    expect(errorsOf(await patch(path(other), { type: 'reminder' }))).toEqual(['#/type wrong_type'])
    expect((await patch(path(other), { type: 'reminder', blocks: [text('x')] })).status).toBe(200)
  })

  it('cannot hide the footer, which has the link to unsubscribe', async () => {
    const id = await draft()
    const footer = { type: 'footer', condition: 'true', data: { text: {} } }
    const heading = { type: 'rich_text', data: { text: { en: 'x' }, level: 2 } }
    expect(errorsOf(await patch(path(id), { blocks: [footer, heading] }))).toEqual([
      '#/blocks/0/condition unknown_field',
      '#/blocks/1/data/level unknown_field',
    ])
  })

  it('declares no variables for templates, which cannot replace it either', async () => {
    const id = await draft()
    const reply = await patch(path(id), { blocks: [text('{% assign block_conditions = "x" %}')] })
    expect(errorsOf(reply)).toEqual(['#/blocks/0/data/text/en invalid_template'])
    const { body } = await post(path(id, '/preview'), {
      blocks: [text('{{ block_conditions[0] }}'), text('x', 'true')],
    })
    expect(body.unknown_variables).toMatchObject([{ variable: 'block_conditions.0' }])
  })
})

describe('a preview of blocks with conditions', () => {
  const blocks = [
    text('Nested Danes', isDanish),
    text('For all'),
    { ...columns(text('Left for all'), text('Left for English', 'user.locale == "en"')) },
    { ...text('Coloured', isDanish), data: { text: { en: '<p>Coloured</p>' }, background_color: '#eeeeee' } },
    { type: 'button', condition: isDanish, data: { text: { en: 'Danish button' }, url: 'https://example.com/da' } },
  ]
  const parts = ['Nested Danes', 'For all', 'Left for all', 'Left for English', 'Coloured', 'Danish button']
  const shown = ({ status, body }: Reply) => {
    expect(status).toBe(200)
    const [html, plain] = [body.html, body.text].map((one: string) => parts.filter((part) => one.includes(part)))
    expect(plain).toEqual(html)
    return html
  }
  const forDanes = parts.filter((part) => part !== 'Left for English')
  const forEnglish = ['For all', 'Left for all', 'Left for English']

  it('shows all of them, or those of the conditions that hold', async () => {
    const id = await draft(blocks)
    for (const mode of ['mjml', 'html']) {
      const preview = (body: object) => post(path(id, '/preview'), { mode, ...body })
      expect(shown(await preview({}))).toEqual(parts)
      expect(shown(await preview({ conditions: [] }))).toEqual(['For all', 'Left for all'])
      expect(shown(await preview({ conditions: [isDanish] }))).toEqual(forDanes)
      expect(shown(await preview({ conditions: ['user.locale == "en"'] }))).toEqual(forEnglish)
      expect(shown(await preview({ user_id: danish.id }))).toEqual(forDanes)
      expect(shown(await preview({ user_id: english.id }))).toEqual(forEnglish)
    }
    const unknown = await post(path(id, '/preview'), { conditions: [isDanish, 'true'] })
    expect([unknown.status, errorsOf(unknown)]).toEqual([400, ['#/conditions/1 does_not_exist']])
    const twice = await post(path(id, '/preview'), { conditions: [isDanish, isDanish] })
    expect([twice.status, errorsOf(twice)]).toEqual([400, ['#/conditions repeated']])
    const both = await post(path(id, '/preview'), { conditions: [], user_id: danish.id })
    expect([both.status, errorsOf(both)]).toEqual([400, ['#/conditions not_both']])
  })

  it('leaves whole HTML and no empty lines when blocks are hidden', async () => {
    const id = await draft(blocks)
    for (const conditions of [[], [isDanish]]) {
      const { body } = await post(path(id, '/preview'), { conditions })
      for (const tag of ['table', 'tr', 'td', 'div', 'tbody'])
        expect(body.html.match(new RegExp(`<${tag}[ >]`, 'g'))?.length).toBe(
          body.html.match(new RegExp(`</${tag}>`, 'g'))?.length,
        )
      expect(body.html.match(/<!--/g)?.length).toBe(body.html.match(/-->/g)?.length)
      expect(body.text).not.toMatch(/^\n|\n{3}/)
      expect(body.html + body.text).not.toMatch(/block_conditions|\{%/)
    }
  })

  it('names the places of the whole message', async () => {
    const id = await draft([text('Hidden', 'false'), { type: 'rich_text', data: { text: { da: '{{ nothing }}' } } }])
    const { body } = await post(path(id, '/preview'), { conditions: [], language: 'en' })
    expect(body.missing_translations).toMatchObject([{ pointer: '#/blocks/1/data/text' }])
    expect(body.unknown_variables).toMatchObject([{ variable: 'nothing' }])
  })

  it('is of customers whom the caller sees, and says what their editions know', async () => {
    const other = await seedEdition({ id: crowd.organization })
    const [stranger] = await seedPeople({ organization: crowd.organization, edition: other.id }, [{ locale: 'da' }])
    const member = await givenMember({ id: crowd.organization }, 'viewer', crowd.edition)
    const admin = await givenMember({ id: crowd.organization }, 'viewer')
    const template = await seedMessage(
      { organization: crowd.organization, edition: null },
      {
        type: 'campaign',
        blocks: [text('Known', `${isDanish} || edition.id == "${other.id}"`), text('For all')] as never,
      },
    )
    const show = async (id: string, user_id: string | undefined, token: string) =>
      (await post(path(id, '/preview'), { user_id }, token)).body
    const ofEdition = await draft([text('Known', isDanish), text('For all')])
    expect((await show(ofEdition, danish.id, member.token)).text).toContain('Known')
    for (const id of [ofEdition, template])
      expect((await show(id, stranger?.id, member.token)).errors).toMatchObject([
        { pointer: '#/user_id', code: 'does_not_exist' },
      ])
    // A customer of another edition is none of those whom the conditions of this message are about.
    expect((await show(ofEdition, stranger?.id, admin.token)).text).not.toContain('Known')
    expect((await show(template, stranger?.id, admin.token)).text).toContain('Known')
    const foreign = await seedCrowd(1)
    expect((await show(ofEdition, foreign.people[0]?.id, admin.token)).errors).toMatchObject([{ pointer: '#/user_id' }])
  })
})
