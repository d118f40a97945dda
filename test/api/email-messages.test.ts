import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
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

  it('refuses a scope that does not fit its edition, and references that the message cannot use', async () => {
    const cases: [Record<string, unknown>, string][] = [
      [{ edition_id: null }, '#/edition_id required'],
      [{ scope: 'template' }, '#/scope scope_mismatch'],
      [{ scope: 'platform' }, '#/scope invalid_choice'],
      [{ type: 'invoice' }, '#/type invalid_choice'],
      [{ template: 'classic' }, '#/template invalid_choice'],
      [{ subject: { fr: 'Bonjour' } }, '#/subject/fr unknown_language'],
      [{ subject: { en: 'Two\r\nBcc: x@example.com' } }, '#/subject/en invalid_characters'],
      [{ subject: { en: '{{ customer.first_name' } }, '#/subject/en invalid_template'],
      [{ subject: { en: 'x'.repeat(251) } }, '#/subject/en max_length'],
      [{ edition_id: world.b.editions[0].id }, '#/edition_id does_not_exist'],
      [{ title: 'x'.repeat(201) }, '#/title max_length'],
    ]
    const before = await dump()
    for (const [change, refusal] of cases)
      expect([change, refusals(await post('/v1/email-messages', aMessage(change)))]).toEqual([change, [refusal]])
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

  it('points at each fault, in templates by line and column, and saves nothing', async () => {
    const id = await seedMessage(tenant())
    const text = (en: string) => ({ type: 'rich_text', data: { text: { en } } })
    const button = (url: string) => ({ type: 'button', data: { text: { en: 'Go' }, url } })
    const spacer = { type: 'spacer', data: {} }
    const spacers = (count: number) => ({
      type: 'columns',
      data: { columns: Array.from({ length: 4 }, () => ({ blocks: Array.from({ length: count / 4 }, () => spacer) })) },
    })
    const cases: [unknown[], string[]][] = [
      [[{ type: 'marquee', data: {} }], ['#/blocks/0/type invalid_choice']],
      [[{ type: 'heading', data: { text: 'Hello' } }], ['#/blocks/0/data/text invalid_type']],
      [[{ type: 'heading', data: { text: { en: 'Hi' }, level: 7 } }], ['#/blocks/0/data/level invalid']],
      [[{ type: 'divider', data: { color: 'red' } }], ['#/blocks/0/data/color invalid']],
      [[{ type: 'rich_text', data: { text: { fr: 'x' } } }], ['#/blocks/0/data/text/fr unknown_language']],
      [[aBlock('One', 'same'), aBlock('Two', 'same')], ['#/blocks/1/id duplicate']],
      [[{ ...aBlock('One'), id: 'a b' }], ['#/blocks/0/id invalid']],
      [[button('javascript:alert(1)')], ['#/blocks/0/data/url invalid_address']],
      [[button('{{ customer.email }}')], ['#/blocks/0/data/url invalid_address']],
      [[button('/relative')], ['#/blocks/0/data/url invalid_address']],
      [[text('fine'), text('{% include "x" %}')], ['#/blocks/1/data/text/en invalid_template']],
      [[text('x'.repeat(20_001))], ['#/blocks/0/data/text/en max_length']],
      [
        [{ type: 'columns', data: { columns: [{ blocks: [text('{{ x')] }, { blocks: [] }] } }],
        ['#/blocks/0/data/columns/0/blocks/0/data/text/en invalid_template'],
      ],
      [[{ type: 'columns', data: { columns: [{ blocks: [] }] } }], ['#/blocks/0/data/columns min_items']],
      [Array.from({ length: 13 }, () => text('x'.repeat(20_000))), ['#/blocks template_too_large']],
      [Array.from({ length: 6 }, () => spacers(80)), ['#/blocks template_too_large']],
    ]
    const before = await dump()
    for (const [blocks, expected] of cases) {
      const reply = await patch(path(id), { title: 'Other', blocks })
      expect([expected, reply.status, refusals(reply)]).toEqual([expected, 400, expected])
    }
    const placed = await patch(path(id), { blocks: [text('one\n<b>two</b> {{ customer.first_name | shout }}')] })
    expect(placed.body.errors[0]).toMatchObject({
      pointer: '#/blocks/0/data/text/en',
      code: 'invalid_template',
      line: 2,
      column: 12,
    })
    expect(await dump()).toEqual(before)
  })

  it('refuses changes of platform messages and of locked messages', async () => {
    const platform = await seedMessage({ organization: null, edition: null })
    const locked = await seedMessage(tenant(), { is_locked: true })
    for (const who of ['OA', 'root'] as const)
      expect((await patch(path(platform), { title: 'Mine' }, token(who))).status).toBe(403)
    const reply = await patch(path(locked), { title: 'Mine' }, token('OA'))
    expect(describeRefusal(reply)).toBe('409 email_message_locked')
    expect((await remove(path(locked), token('OA'))).body.code).toBe('email_message_locked')
    expect((await remove(path(platform), token('OA'))).status).toBe(403)
    expect((await get(path(platform), token('EV'))).status).toBe(200)
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
  it('filters by organisation, edition, type and scope, and returns no blocks', async () => {
    const [edition] = world.b.editions
    const place = { organization: world.b.id, edition: edition.id }
    const reminder = await seedMessage(place, { type: 'reminder' })
    const template = await seedMessage({ organization: world.b.id, edition: null }, { type: 'reminder' })
    const platform = await seedMessage({ organization: null, edition: null }, { type: 'reminder' })
    const ids = async (query: string, who = world.stranger.token) =>
      (await get(`/v1/email-messages?${query}`, who)).body.results.map(({ id }: { id: string }) => id)
    expect((await ids('type=reminder')).toSorted()).toEqual([reminder, template, platform].toSorted())
    expect(await ids(`type=reminder&edition_id=${edition.id}`)).toEqual([reminder])
    const typeQuery = `type=reminder&organization_id=${world.b.id}`
    expect((await ids(typeQuery)).toSorted()).toEqual([reminder, template, platform].toSorted())
    expect((await ids(typeQuery, rootToken)).toSorted()).toEqual([reminder, template, platform].toSorted())
    expect(await ids(`${typeQuery}&scope=platform`)).toEqual([platform])
    expect(await ids(`${typeQuery}&scope=template`)).toEqual([template])
    expect(await ids(`${typeQuery}&scope=edition`)).toEqual([reminder])
    expect(await ids(`${typeQuery}&edition_id=${edition.id}`)).toEqual([reminder])
    expect(await ids('type=reminder&scope=template')).toEqual([template])
    expect(await ids('type=reminder&scope=platform', token('EV'))).toEqual([platform])
    expect(await ids(`organization_id=${world.b.id}`, token('OA'))).toEqual([])
    const { body } = await get(`/v1/email-messages?edition_id=${edition.id}`, world.stranger.token)
    expect(Object.keys(body.results[0])).not.toContain('blocks')
  })

  it('includes the messages of the platform, in five languages', async () => {
    const { body } = await get('/v1/email-messages?scope=platform&ordering=title', token('EV'))
    const platformMessages = body.results.filter(({ id }: { id: string }) => id.startsWith('eml_00000000000000000'))
    expect(platformMessages.map(({ type }: { type: string }) => type)).toEqual([
      'campaign',
      'receipt',
      'refund_confirmation',
    ])
    for (const { id } of platformMessages)
      for (const language of ['en', 'da', 'se', 'nl', 'pl']) {
        const preview = await post(path(id, '/preview'), { language }, token('EV'))
        expect([preview.status, preview.body.unknown_variables, preview.body.missing_translations]).toEqual([
          200,
          [],
          [],
        ])
      }
  })
})
