import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { languages } from '../../src/domain/languages.ts'
import { get, patch, post, type Reply, remove, rootToken, publicUrl } from '../support/api.ts'
import { dump } from '../support/dump.ts'
import { describeRefusal } from '../support/refusals.ts'
import { aBlock, seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { db } from '../support/seeding/rows.ts'
import { buildWorld, type Who, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const token = (who: Who) => world.people[who].token
const path = (id: string, more = '') => `/v1/email-messages/${id}${more}`
const refusals = (reply: Reply) =>
  (reply.body.errors as { code: string; pointer: string }[]).map(({ code, pointer }) => `${pointer} ${code}`)
const tenant = () => ({ organization: world.a.id, edition: world.a.editions[0].id })

const aMessage = (change: Record<string, unknown> = {}) => ({
  organization_id: world.a.id,
  edition_id: world.a.editions[0].id,
  title: 'Receipt',
  subject: { en: 'Order {{ order.number }} of {{ customer.first_name }}', da: 'Ordre {{ order.number }}' },
  type: 'receipt',
  ...change,
})

const aText = (en: string) => ({ type: 'rich_text', data: { text: { en } } })
const aButton = (url: string) => ({ type: 'button', data: { text: { en: 'Go' }, url } })
const buildSpacers = (count: number) => {
  const blocks = Array.from({ length: count / 4 }, () => ({ type: 'spacer', data: {} }))
  return { type: 'columns', data: { columns: Array.from({ length: 4 }, () => ({ blocks })) } }
}

describe('createEmailMessage', () => {
  it('stores an empty message of an edition, and returns its subject as recipients read it', async () => {
    const reply = await post('/v1/email-messages', aMessage({ title: ' Kvittering ' }), token('EM'))
    expect(reply.status).toBe(201)
    expect(reply.headers.get('location')).toBe(publicUrl + path(reply.body.id))
    expect(reply.body).toMatchObject({
      title: 'Kvittering',
      subject: 'Order 100234 of Astrid',
      subject_translations: aMessage().subject,
      type: 'receipt',
      scope: 'edition',
      template: 'modern',
      locked: false,
      organization: { id: world.a.id },
      edition: { id: world.a.editions[0].id },
      blocks: [],
    })
    expect((await get(path(reply.body.id), token('EV'))).text).toBe(reply.text)
  })

  it('stores a template of the organisation for roles of the organisation', async () => {
    const template = aMessage({ edition_id: null, scope: 'template' })
    const reply = await post('/v1/email-messages', template, token('OM'))
    expect([reply.status, reply.body.scope, reply.body.edition]).toEqual([201, 'template', null])
    expect((await post('/v1/email-messages', template, token('EA'))).status).toBe(403)
  })

  it('shows the subject in the default language of the edition', async () => {
    const edition = world.a.editions[1].id
    await db.batch([sql`update editions set default_language = 'da' where id = ${edition}`])
    const subject = { en: 'Order {{ order.total }}', da: 'Ordre {{ order.number }}: {{ order.total }}' }
    const { body } = await post('/v1/email-messages', aMessage({ edition_id: edition, subject }))
    expect(body.subject).toBe('Ordre 100234: 1.125,00\u00A0kr.')
    const english = await post('/v1/email-messages', aMessage({ edition_id: edition, subject: { en: 'Only English' } }))
    expect(english.body.subject).toBe('Only English')
  })

  it.each<[string, Record<string, unknown>]>([
    ['#/edition_id required', { edition_id: null }],
    ['#/scope scope_mismatch', { scope: 'template' }],
    ['#/scope invalid_choice', { scope: 'platform' }],
    ['#/type invalid_choice', { type: 'invoice' }],
    ['#/template invalid_choice', { template: 'classic' }],
    ['#/subject/fr unknown_language', { subject: { fr: 'Bonjour' } }],
    ['#/subject/en invalid_characters', { subject: { en: 'Two\r\nBcc: x@example.com' } }],
    ['#/subject/en invalid_template', { subject: { en: '{{ customer.first_name' } }],
    ['#/subject/en max_length', { subject: { en: 'x'.repeat(251) } }],
    ['#/title max_length', { title: 'x'.repeat(201) }],
  ])('refuses what does not fit a message, and stores nothing: %s', async (refusal, change) => {
    const before = await dump()
    const reply = await post('/v1/email-messages', aMessage(change))
    expect([reply.status, refusals(reply)]).toEqual([400, [refusal]])
    expect(await dump()).toEqual(before)
  })

  it('finds no edition of another organisation', async () => {
    const before = await dump()
    const reply = await post('/v1/email-messages', aMessage({ edition_id: world.b.editions[0].id }))
    expect(describeRefusal(reply)).toBe('400 validation_error: does_not_exist #/edition_id')
    expect(await dump()).toEqual(before)
  })

  it('is refused in an archived edition', async () => {
    const edition = world.b.editions[1].id
    await db.batch([sql`update editions set is_archived = 1 where id = ${edition}`])
    const reply = await post('/v1/email-messages', aMessage({ organization_id: world.b.id, edition_id: edition }))
    expect(describeRefusal(reply)).toBe('409 edition_archived')
  })
})

describe('getEmailMessage', () => {
  it('returns all languages and blocks, only to roles of its organisation or edition', async () => {
    const id = await seedMessage(tenant(), { title: 'Receipt', blocks: [aBlock('Welcome')] })
    expect((await get(path(id), token('EV'))).body).toMatchObject({
      id,
      title: 'Receipt',
      scope: 'edition',
      subject_translations: { en: 'Hello {{ customer.first_name }}', da: 'Hej {{ customer.first_name }}' },
      blocks: [aBlock('Welcome')],
    })
    expect((await get(path(id), world.stranger.token)).status).toBe(404)
  })
})

describe('updateEmailMessage', () => {
  it('replaces all blocks at once, and keeps the ids of existing ones', async () => {
    const id = await seedMessage(tenant())
    const columns = {
      type: 'columns',
      data: { columns: [{ blocks: [aBlock('Left', 'left')] }, { blocks: [{ type: 'spacer', data: {} }] }] },
    }
    const reply = await patch(path(id), { blocks: [aBlock('New', 'kept'), columns] }, token('EA'))
    expect(reply.status).toBe(200)
    const [first, second] = reply.body.blocks
    expect(first).toEqual(aBlock('New', 'kept'))
    expect(second.id).toMatch(/^blk_[0-9A-Z]{26}$/)
    expect(second.data.columns[0].blocks[0].id).toBe('left')
    expect(second.data.columns[1].blocks[0].id).toMatch(/^blk_/)
    expect((await get(path(id))).body.blocks).toEqual(reply.body.blocks)
    const emptied = await patch(path(id), { blocks: [] })
    expect([emptied.body.blocks, emptied.body.title]).toEqual([[], reply.body.title])
  })

  it('stores markup without scripts and other active content', async () => {
    const id = await seedMessage(tenant())
    const text = '<p onclick="x()">Hi <b>{{ customer.first_name }}</b><script>alert(1)</script></p>'
    const { body } = await patch(path(id), { blocks: [{ type: 'rich_text', data: { text: { en: text } } }] })
    expect(body.blocks[0].data.text.en).toBe('<p>Hi <b>{{ customer.first_name }}</b></p>')
  })

  it.each<[string[], unknown[]]>([
    [['#/blocks/0/type invalid_choice'], [{ type: 'marquee', data: {} }]],
    [['#/blocks/0/data/text invalid_type'], [{ type: 'heading', data: { text: 'Hello' } }]],
    [['#/blocks/0/data/level invalid'], [{ type: 'heading', data: { text: { en: 'Hi' }, level: 7 } }]],
    [['#/blocks/0/data/color invalid'], [{ type: 'divider', data: { color: 'red' } }]],
    [['#/blocks/0/data/text/fr unknown_language'], [{ type: 'rich_text', data: { text: { fr: 'x' } } }]],
    [['#/blocks/1/id duplicate'], [aBlock('One', 'same'), aBlock('Two', 'same')]],
    [['#/blocks/0/id invalid'], [{ ...aBlock('One'), id: 'a b' }]],
    [['#/blocks/0/data/url invalid_address'], [aButton('javascript:alert(1)')]],
    [['#/blocks/0/data/url invalid_address'], [aButton('{{ customer.email }}')]],
    [['#/blocks/0/data/url invalid_address'], [aButton('/relative')]],
    [['#/blocks/1/data/text/en invalid_template'], [aText('fine'), aText('{% include "x" %}')]],
    [['#/blocks/0/data/text/en max_length'], [aText('x'.repeat(20_001))]],
    [
      ['#/blocks/0/data/columns/0/blocks/0/data/text/en invalid_template'],
      [{ type: 'columns', data: { columns: [{ blocks: [aText('{{ x')] }, { blocks: [] }] } }],
    ],
    [['#/blocks/0/data/columns min_items'], [{ type: 'columns', data: { columns: [{ blocks: [] }] } }]],
    [['#/blocks template_too_large'], Array.from({ length: 13 }, () => aText('x'.repeat(20_000)))],
    [['#/blocks template_too_large'], Array.from({ length: 6 }, () => buildSpacers(80))],
  ])('points at the fault, and saves nothing: %j', async (expected, blocks) => {
    const id = await seedMessage(tenant())
    const before = await get(path(id))
    const reply = await patch(path(id), { title: 'Other', blocks })
    expect([reply.status, refusals(reply)]).toEqual([400, expected])
    expect((await get(path(id))).text).toBe(before.text)
  })

  it('points at a fault of a template by line and column, and stores nothing', async () => {
    const id = await seedMessage(tenant())
    const before = await dump()
    const reply = await patch(path(id), { blocks: [aText('one\n<b>two</b> {{ customer.first_name | shout }}')] })
    expect(reply.body.errors[0]).toMatchObject({
      pointer: '#/blocks/0/data/text/en',
      code: 'invalid_template',
      line: 2,
      column: 12,
    })
    expect(await dump()).toEqual(before)
  })

  it('refuses changes of messages of the platform, which everyone reads', async () => {
    const id = await seedMessage({ organization: null, edition: null })
    for (const who of ['OA', 'root'] as const)
      expect((await patch(path(id), { title: 'Mine' }, token(who))).status).toBe(403)
    expect((await remove(path(id), token('OA'))).status).toBe(403)
    expect((await get(path(id), token('EV'))).status).toBe(200)
  })

  it('refuses changes of locked messages', async () => {
    const id = await seedMessage(tenant(), { is_locked: true })
    const refusal = '409 email_message_locked'
    expect(describeRefusal(await patch(path(id), { title: 'Mine' }, token('OA')))).toBe(refusal)
    expect(describeRefusal(await remove(path(id), token('OA')))).toBe(refusal)
    expect((await get(path(id), token('EV'))).status).toBe(200)
  })

  it('lets edition roles read templates of the organisation, and not change them', async () => {
    const id = await seedMessage({ organization: world.a.id, edition: null })
    expect((await get(path(id), token('EV'))).status).toBe(200)
    expect((await patch(path(id), { title: 'Mine' }, token('EA'))).status).toBe(403)
    expect((await patch(path(id), { title: 'Ours' }, token('OM'))).body.title).toBe('Ours')
  })

  it('keeps the type of an edition’s receipt', async () => {
    const id = await seedMessage(tenant(), { type: 'receipt' })
    await patch(`/v1/editions/${world.a.editions[0].id}`, { transaction_receipt_email_id: id })
    const reply = await patch(path(id), { type: 'campaign' })
    expect(describeRefusal(reply)).toBe('409 email_message_in_use')
    expect(reply.body.related_objects.map(({ type }: { type: string }) => type)).toEqual(['edition', 'trigger'])
    expect((await patch(path(id), { type: 'receipt_online' })).status).toBe(200)
  })
})

describe('listEmailMessages', () => {
  describe('of an organisation with a message in each place', () => {
    const messages = { edition: '', template: '', platform: '' }
    let editionId: string
    beforeAll(async () => {
      editionId = world.b.editions[0].id
      const place = { organization: world.b.id, edition: editionId }
      messages.edition = await seedMessage(place, { type: 'reminder' })
      messages.template = await seedMessage({ organization: world.b.id, edition: null }, { type: 'reminder' })
      messages.platform = await seedMessage({ organization: null, edition: null }, { type: 'reminder' })
    })
    const list = async (query: string, caller: string): Promise<string[]> =>
      (await get(`/v1/email-messages?${query}`, caller)).body.results.map(({ id }: { id: string }) => id)

    it.each<[string, (keyof typeof messages)[]]>([
      ['', ['edition', 'template', 'platform']],
      ['&edition_id=EDITION', ['edition']],
      ['&scope=template', ['template']],
      ['&organization_id=ORGANISATION', ['edition', 'template', 'platform']],
      ['&organization_id=ORGANISATION&scope=platform', ['platform']],
      ['&organization_id=ORGANISATION&scope=template', ['template']],
      ['&organization_id=ORGANISATION&scope=edition', ['edition']],
      ['&organization_id=ORGANISATION&edition_id=EDITION', ['edition']],
    ])('filters reminders by organisation, edition and scope: %s', async (filters, expected) => {
      const query = filters.replace('EDITION', editionId).replace('ORGANISATION', world.b.id)
      const ids = await list(`type=reminder${query}`, world.stranger.token)
      expect(ids.toSorted()).toEqual(expected.map((name) => messages[name]).toSorted())
    })

    it('shows the superuser the messages of the organisation that was asked for', async () => {
      const ids = await list(`type=reminder&organization_id=${world.b.id}`, rootToken)
      expect(ids.toSorted()).toEqual(Object.values(messages).toSorted())
    })

    it('shows the messages of the platform to other organisations, and no others', async () => {
      expect(await list('type=reminder&scope=platform', token('EV'))).toEqual([messages.platform])
      expect(await list(`organization_id=${world.b.id}`, token('OA'))).toEqual([])
    })

    it('has no blocks', async () => {
      const { body } = await get(`/v1/email-messages?edition_id=${editionId}`, world.stranger.token)
      expect(body.results).not.toHaveLength(0)
      expect(Object.keys(body.results[0])).not.toContain('blocks')
    })
  })

  describe('of the platform', () => {
    const listOfPlatform = async (): Promise<{ id: string; type: string }[]> => {
      const { body } = await get('/v1/email-messages?scope=platform&ordering=title', token('EV'))
      return body.results.filter(({ id }: { id: string }) => id.startsWith('eml_00000000000000000'))
    }
    const types = ['campaign', 'receipt', 'refund_confirmation']

    it('has a campaign, a receipt and a refund confirmation', async () => {
      expect((await listOfPlatform()).map(({ type }) => type)).toEqual(types)
    })

    it.each(types)('has a complete %s in five languages', async (type) => {
      const id = (await listOfPlatform()).find((one) => one.type === type)?.id ?? ''
      for (const language of languages) {
        const { status, body } = await post(path(id, '/preview'), { language }, token('EV'))
        expect([language, status, body.unknown_variables, body.missing_translations]).toEqual([language, 200, [], []])
      }
    })
  })
})
