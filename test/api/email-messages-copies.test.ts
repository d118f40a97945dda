import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadTemplate } from '../../src/modules/email-messages/index.ts'
import { get, patch, post, publicUrl } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { dump } from '../support/dump.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { aBlock, seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { db, seededAt, write } from '../support/seeding/rows.ts'
import { buildWorld, type Who, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const token = (who: Who) => world.people[who].token
const path = (id: string, more = '') => `/v1/email-messages/${id}${more}`
const template = (columns: Parameters<typeof seedMessage>[1] = {}) =>
  seedMessage({ organization: world.a.id, edition: null }, columns)

const listTriggers = (edition: string) =>
  db.all(sql<Record<string, unknown>>`select kind, channel, email_message_id, is_active from triggers
    where edition_id = ${edition} order by kind`)
const loadEdition = async (id: string) => (await get(`/v1/editions/${id}`)).body

const sentTypes = [
  ['receipt', 'transaction_receipt_email_id', 'receipt'],
  ['receipt_online', 'transaction_receipt_email_id', 'receipt'],
  ['refund_confirmation', 'refund_confirmation_email_id', 'refund_confirmation'],
] as const

async function givenAdoptedTwice(type: (typeof sentTypes)[number][0]) {
  const edition = (await seedEdition(world.a)).id
  const adopt = path(await template({ type }), '/adopt')
  const first = await post(adopt, { edition_id: edition, title: 'First' }, token('OM'))
  const field = sentTypes.find(([name]) => name === type)?.[1] ?? ''
  expect((await loadEdition(edition))[field]).toBe(first.body.id)
  return { edition, first, second: await post(adopt, { edition_id: edition }, token('OM')) }
}

describe('adoptEmailMessage', () => {
  it('copies a template into the edition with all its blocks', async () => {
    const [edition] = world.a.editions
    const id = await template({ title: 'Reminder', type: 'reminder', is_locked: true })
    const before = await loadEdition(edition.id)
    const reply = await post(path(id, '/adopt'), { edition_id: edition.id }, token('EM'))
    expect(reply.status).toBe(201)
    expect(reply.headers.get('location')).toBe(publicUrl + path(reply.body.id))
    const source = (await get(path(id))).body
    expect(reply.body).toMatchObject({
      title: 'Reminder',
      type: 'reminder',
      scope: 'edition',
      locked: false,
      edition: { id: edition.id },
      blocks: source.blocks,
      subject_translations: source.subject_translations,
    })
    expect(reply.body.id).not.toBe(id)
    expect((await get(path(reply.body.id))).text).toBe(reply.text)
    expect(await loadEdition(edition.id)).toEqual(before)
    await patch(path(reply.body.id), { blocks: [aBlock('Ours')] }, token('EM'))
    expect((await get(path(id))).body.blocks).toEqual(source.blocks)
  })

  it.each(sentTypes)('makes a %s the message that the edition sends', async (type, field, kind) => {
    const { edition, first, second } = await givenAdoptedTwice(type)
    expect(first.body.title).toBe('First')
    expect((await loadEdition(edition))[field]).toBe(second.body.id)
    expect(await listTriggers(edition)).toEqual([
      { kind, channel: 'email', email_message_id: second.body.id, is_active: 1 },
    ])
  })

  it.each(sentTypes)('lets the edition send no %s, or an earlier one again', async (type, field, kind) => {
    const { edition, first } = await givenAdoptedTwice(type)
    await patch(`/v1/editions/${edition}`, { [field]: null })
    expect(await listTriggers(edition)).toEqual([{ kind, channel: 'email', email_message_id: null, is_active: 0 }])
    await patch(`/v1/editions/${edition}`, { [field]: first.body.id })
    expect(await listTriggers(edition)).toMatchObject([{ email_message_id: first.body.id, is_active: 1 }])
  })

  it.each([
    ['receipt', 'receipt_online'],
    ['receipt_online', 'receipt'],
  ] as const)('leaves a %s in use when a %s is adopted too', async (type, second) => {
    const edition = (await seedEdition(world.a)).id
    const adopt = async (id: string) => (await post(path(id, '/adopt'), { edition_id: edition }, token('OM'))).body.id
    const first = await adopt(await template({ type }))
    const beside = await adopt(await template({ type: second }))
    expect((await get(path(beside))).body).toMatchObject({ type: second, edition: { id: edition } })
    expect((await loadEdition(edition)).transaction_receipt_email_id).toBe(first)
    expect(await listTriggers(edition)).toMatchObject([{ email_message_id: first, is_active: 1 }])
    const newer = await adopt(await template({ type }))
    expect((await loadEdition(edition)).transaction_receipt_email_id).toBe(newer)
    await patch(`/v1/editions/${edition}`, { transaction_receipt_email_id: null })
    const alone = await adopt(await template({ type: second }))
    expect((await loadEdition(edition)).transaction_receipt_email_id).toBe(alone)
  })

  it('leaves one of two receipt types in use that are adopted at the same time', async () => {
    const edition = (await seedEdition(world.a)).id
    const ids = await Promise.all((['receipt', 'receipt_online'] as const).map((type) => template({ type })))
    const adopted = await Promise.all(ids.map((id) => post(path(id, '/adopt'), { edition_id: edition })))
    expect(adopted.map(({ status }) => status)).toEqual([201, 201])
    const sent = (await loadEdition(edition)).transaction_receipt_email_id
    expect(adopted.map(({ body }) => body.id)).toContain(sent)
    expect(await listTriggers(edition)).toMatchObject([{ email_message_id: sent }])
    expect(
      (await db.first(sql<{ version: number }>`select version from editions where id = ${edition}`))?.version,
    ).toBe(2)
  })

  it('copies messages of the platform too', async () => {
    const [edition] = world.a.editions
    const { body } = await get('/v1/email-messages?scope=platform&type=receipt', token('EA'))
    const platformMessage = body.results.find(({ id }: { id: string }) => id.startsWith('eml_00000000000000000'))
    const reply = await post(path(platformMessage.id, '/adopt'), { edition_id: edition.id }, token('EA'))
    expect([reply.status, reply.body.organization.id, reply.body.blocks.length]).toEqual([201, world.a.id, 5])
    expect((await loadEdition(edition.id)).transaction_receipt_email_id).toBe(reply.body.id)
  })

  it('refuses messages of editions', async () => {
    const [mine, other] = world.a.editions
    const reply = await post(path(mine.message, '/adopt'), { edition_id: other.id }, token('OA'))
    expect(describeRefusal(reply)).toBe('409 email_message_not_template')
  })

  it('refuses editions in which the caller may not write, and changes nothing', async () => {
    const [mine, other] = world.a.editions
    const [theirs] = world.b.editions
    const id = await template()
    const before = await dump()
    const adopt = async (edition_id: string, caller?: string) =>
      describeRefusal(await post(path(id, '/adopt'), { edition_id }, caller))
    const missing = '400 validation_error: does_not_exist #/edition_id'
    expect(await adopt(other.id, token('EM'))).toBe(missing)
    expect(await adopt(theirs.id, token('OA'))).toBe(missing)
    expect(await adopt(theirs.id)).toBe(missing)
    expect(await adopt(mine.id, token('EV'))).toMatch(/^403 /)
    expect(await dump()).toEqual(before)
  })

  it('refuses archived editions', async () => {
    const edition = await seedEdition(world.a, { is_archived: true })
    const archived = await post(path(await template(), '/adopt'), { edition_id: edition.id }, token('OA'))
    expect(describeRefusal(archived)).toBe('409 edition_archived')
  })
})

describe('duplicateEmailMessage', () => {
  it('copies into an edition, or into the organisation without one', async () => {
    const [edition] = world.a.editions
    const inEdition = await post(path(edition.message, '/duplicate'), { edition_id: edition.id }, token('EA'))
    expect(inEdition.body).toMatchObject({ scope: 'edition', edition: { id: edition.id } })
    expect(inEdition.body.title).toMatch(/^Message \d+ \(copy\)$/)
    for (const body of [{}, { edition_id: null }]) {
      const { body: copy } = await post(path(edition.message, '/duplicate'), { ...body, title: 'Ours' }, token('OM'))
      expect(copy).toMatchObject({ scope: 'template', edition: null, title: 'Ours', organization: { id: world.a.id } })
    }
    expect((await post(path(edition.message, '/duplicate'), {}, token('EA'))).status).toBe(403)
  })

  it('changes no setting of the edition', async () => {
    const edition = (await seedEdition(world.a)).id
    const id = await template({ type: 'receipt' })
    await post(path(id, '/duplicate'), { edition_id: edition }, token('OA'))
    expect([(await loadEdition(edition)).transaction_receipt_email_id, await listTriggers(edition)]).toEqual([null, []])
  })

  it('copies the platform’s messages for an organisation that the request names', async () => {
    const platform = await seedMessage({ organization: null, edition: null })
    expect(describeRefusal(await post(path(platform, '/duplicate'), {}, token('OA')))).toBe(
      '400 validation_error: required #/organization_id',
    )
    const ours = await post(path(platform, '/duplicate'), { organization_id: world.a.id }, token('OA'))
    expect(ours.body).toMatchObject({ scope: 'template', organization: { id: world.a.id } })
    const theirs = await post(path(platform, '/duplicate'), { organization_id: world.b.id }, token('OA'))
    expect(describeRefusal(theirs)).toBe('400 validation_error: does_not_exist #/organization_id')
  })

  it('shortens titles that are too long', async () => {
    const id = await template({ title: 'x'.repeat(200) })
    const { body } = await post(path(id, '/duplicate'), {}, token('OA'))
    expect([body.title.length, body.title.endsWith(' (copy)')]).toEqual([200, true])
  })
})

describe('the compiled form of a message', () => {
  const ctx = createContextAt(seededAt)
  const listRenditions = (id: string) =>
    db.all(sql<{ language: string; content_hash: string }>`select language, content_hash from email_renditions
      where message_id = ${id} order by language`)
  it('is made for each language', async () => {
    const id = await seedMessage({ organization: world.a.id, edition: world.a.editions[0].id })
    const english = await loadTemplate(ctx, id, 'en')
    expect(english?.subject).toBe('Hello {{ customer.first_name }}')
    expect(english?.html).toContain('<p>Welcome</p>')
    await loadTemplate(ctx, id, 'da')
    expect((await listRenditions(id)).map(({ language }) => language)).toEqual(['da', 'en'])
  })

  it('is stored, and made again after a change of the message alone', async () => {
    const id = await seedMessage({ organization: world.a.id, edition: world.a.editions[0].id })
    await loadTemplate(ctx, id, 'en')
    const [first] = await listRenditions(id)
    // The stored form is returned, because nothing is compiled without a change.
    await write(sql`update email_renditions set html = 'stored' where message_id = ${id} and language = 'en'`)
    expect((await loadTemplate(ctx, id, 'en'))?.html).toBe('stored')
    await patch(path(id), { blocks: [aBlock('Changed')] })
    expect((await loadTemplate(ctx, id, 'en'))?.html).toContain('<p>Changed</p>')
    const [second, ...more] = await listRenditions(id)
    expect([second?.language, more]).toEqual(['en', []])
    expect(second?.content_hash).not.toBe(first?.content_hash)
  })

  it('is not made for an unknown message', async () => {
    expect(await loadTemplate(ctx, 'eml_nothing', 'en')).toBeNull()
  })

  it('names the sending edition in the frame of a template', async () => {
    const id = await seedMessage({ organization: null, edition: null })
    const [one, two] = [(await seedEdition(world.a)).id, (await seedEdition(world.b)).id]
    await write(sql`update editions set full_name = 'Nordlys & co', default_language = 'da' where id = ${one}`)
    const first = await loadTemplate(ctx, id, 'pl', one)
    expect(first?.html).toContain('Nordlys &amp; co')
    expect(first?.text).toContain('Welcome på dansk')
    const second = await loadTemplate(ctx, id, 'pl', two)
    expect(second?.html).not.toContain('Nordlys &amp; co')
    expect(await loadTemplate(ctx, id, 'pl', one)).toEqual(first)
  })
})
