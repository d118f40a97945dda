import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { copiedTables, derivedTables } from '../../src/domain/editions/edition-copy.ts'
import { LostRace } from '../../src/domain/errors.ts'
import { duplicateEdition } from '../../src/modules/editions/duplicate/duplicate.ts'
import { findEdition } from '../../src/modules/editions/queries.ts'
import { get, patch, post, publicUrl, type Reply } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { readCost } from '../support/cost.ts'
import { dump } from '../support/dump.ts'
import {
  omitOwnColumns,
  listChildren,
  loadContents,
  nameIds,
  whereEdition,
  type Row,
} from '../support/edition-copies.ts'
import { codes, buildRefusal } from '../support/editions.ts'
import { seedFeeRule } from '../support/seeding/catalogue.ts'
import { seedEditionContents } from '../support/seeding/edition-contents.ts'
import { type EditionRow, seedEdition } from '../support/seeding/editions.ts'
import { seedFile } from '../support/seeding/files.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenEvent, givenOrganization } from '../support/seeding/organizations.ts'
import { write, db } from '../support/seeding/rows.ts'
import { seedMerchantAccount } from '../support/seeding/sales/merchant-accounts.ts'

async function seedSource(columns: Partial<EditionRow> = {}) {
  const organisation = await givenOrganization()
  const edition = await seedEdition(organisation, { name: 'Nordlys 2026', ...columns })
  return { organisation, edition, path: `/v1/editions/${edition.id}/duplicate` }
}

async function givenFull(columns: Partial<EditionRow> = {}) {
  const place = await seedSource(columns)
  const messages = await seedEditionContents({ organization: place.organisation.id, edition: place.edition.id })
  return { ...place, messages }
}

describe('duplicateEdition', () => {
  it('makes a draft with every setting of the source', async () => {
    const organisation = await givenOrganization()
    const other = await givenEvent(organisation, 'Vinterlys')
    const source = await seedEdition(organisation, {
      start_at: 5_000_000,
      end_at: 6_000_000,
      timezone: 'Europe/Oslo',
      default_country_code: '+47',
      is_draft: false,
      published_at: 7_000_000,
      default_language: 'da',
      enabled_languages: ['da', 'en'],
      tax_type: 'vat',
      default_price_tax_rate: 25,
      default_deposit_tax_rate: 12,
      default_packaging_deposit_tax_rate: 3,
      currency: 'nok',
      fee_rule_id: await seedFeeRule(organisation),
      merchant_account_id: await seedMerchantAccount(organisation),
      merchant_account_extra_parameters: { a: 1 },
      merchant_id: { b: 2 },
      metadata: { c: 3 },
      sms_sender_name: 'Store',
      email_sender_name: 'Nordlys',
      email_sender_address: 'hello@example.dk',
      email_reply_to: 'reply@example.dk',
      meta_title: { en: 'Title' },
      meta_description: { en: 'Text' },
      meta_image_id: await seedFile({ organization: organisation.id, edition: null }),
      version: 9,
      created_at: 1000,
      modified_at: 2000,
    })
    const path = `/v1/editions/${source.id}`
    const before = (await get(path)).body
    const reply = await post(`${path}/duplicate`, { name: '2027', slug: 'Vinter_2027', event_id: other.id })
    expect(reply.status).toBe(201)
    expect(reply.headers.get('location')).toBe(`${publicUrl}/v1/editions/${reply.body.id}`)
    expect(reply.body).toEqual({
      ...before,
      id: reply.body.id,
      name: '2027',
      full_name: 'Vinterlys 2027',
      slug: 'Vinter_2027',
      event: { id: other.id, name: 'Vinterlys' },
      is_draft: true,
      published_at: null,
      created: reply.body.created,
      modified: reply.body.created,
    })
    expect((await get(`/v1/editions/${reply.body.id}`)).body).toEqual(reply.body)
    expect((await get(path)).body).toEqual(before)
    const loadEdition = (id: string) => db.first(sql<Row>`select * from editions where id = ${id}`)
    const [old, copy] = [await loadEdition(source.id), await loadEdition(reply.body.id)]
    const changed = ['id', 'event_id', 'name', 'name_key', 'full_name', 'slug', 'search', 'is_draft', 'published_at']
    expect(omitOwnColumns([{ ...copy }], changed)).toEqual(omitOwnColumns([{ ...old }], changed))
    expect(copy).toMatchObject({ version: 1, name_key: '042027', search: expect.stringContaining('vinterlys 2027') })
  })

  describe('of an edition with contents of every kind', () => {
    let source: Awaited<ReturnType<typeof givenFull>>
    let before: Record<string, Row[]>
    let reply: Reply
    let copied: Record<string, Row[]>
    let sources: Record<string, Row[]>
    let copies: Record<string, Row[]>
    beforeAll(async () => {
      source = await givenFull()
      before = await loadContents(source.edition.id)
      reply = await post(source.path, { name: 'Nordlys 2027' })
      copied = await loadContents(reply.body.id)
      const { receipt, refund, reminder } = source.messages
      // The messages that the source sends are copied at every level, and the unused message is not.
      const sent = await Promise.all(
        [receipt, refund, reminder].map((id) => db.first(sql<Row>`select * from email_messages where id = ${id}`)),
      )
      sources = nameIds({ ...before, email_messages: sent as Row[] })
      copies = nameIds(copied)
    })

    it('changes nothing of the source', async () => {
      expect(await loadContents(source.edition.id)).toEqual(before)
    })

    it('copies every table that the edition owns', () => {
      expect(Object.keys(copies).toSorted()).toEqual([...Object.keys(copiedTables), ...derivedTables].toSorted())
    })

    it.each([
      'categories',
      'products',
      'product_aliases',
      'variants',
      'options',
      'locations',
      'triggers',
      'pass_designs',
    ])('copies all columns of its %s', (table) => {
      expect(sources[table]?.length).toBeGreaterThan(1)
      expect(omitOwnColumns(copies[table])).toEqual(omitOwnColumns(sources[table]))
    })

    it('copies the messages that it sends from every level into the new edition, which sends them', () => {
      const level = ['organization_id', 'scope', 'is_locked']
      expect(omitOwnColumns(copies['email_messages'], level)).toEqual(omitOwnColumns(sources['email_messages'], level))
      for (const row of copied['email_messages'] ?? [])
        expect(row).toMatchObject({
          organization_id: reply.body.organization.id,
          scope: 'edition',
          is_locked: 0,
          version: 1,
        })
      expect(reply.body).toMatchObject({
        transaction_receipt_email_id: copied['email_messages']?.[0]?.['id'],
        refund_confirmation_email_id: copied['email_messages']?.[1]?.['id'],
      })
    })

    it('copies its consents with their current wording as the first version', () => {
      const consent = ['origin_id', 'wording_version']
      expect(omitOwnColumns(copies['consents'], consent)).toEqual(omitOwnColumns(sources['consents'], consent))
      expect(copied['consents']).toMatchObject(
        (before['consents'] ?? []).map(({ id }) => ({ origin_id: id, wording_version: 1, version: 1 })),
      )
      const current = (sources['consent_versions'] ?? []).filter(({ version }) => version === 3)
      expect(omitOwnColumns(copies['consent_versions'])).toEqual(omitOwnColumns(current))
      expect(copied['consent_versions']?.map(({ version }) => version)).toEqual([1, 1])
    })

    it('makes copies that refer to each other, and to nothing of the source but where a consent comes from', () => {
      const old = new Set(Object.values(before).flatMap((rows) => rows.map(({ id }) => id)))
      for (const rows of Object.values(copied))
        for (const row of rows) {
          expect(old.has(row['id'] ?? 'none')).toBe(false)
          for (const [name, value] of Object.entries(row))
            if (name !== 'origin_id' && name !== 'id')
              expect([name, value !== null && old.has(value)]).toEqual([name, false])
        }
    })
  })

  it('keeps e-mails of the organisation that the source uses', async () => {
    const { edition, path, messages } = await givenFull()
    const before = await loadContents(edition.id)
    const reply = await post(path, { name: 'Nordlys 2027', email_template_mode: 'share' })
    const copied = await loadContents(reply.body.id)
    expect(copied['email_messages']).toEqual([])
    expect(reply.body).toMatchObject({
      transaction_receipt_email_id: messages.receipt,
      refund_confirmation_email_id: messages.refund,
    })
    const shared = { ...nameIds({ ...before, email_messages: [] }) }
    for (const table of ['products', 'variants', 'triggers', 'pass_designs'])
      expect([table, omitOwnColumns(nameIds(copied)[table])]).toEqual([table, omitOwnColumns(shared[table])])
    expect(copied['triggers']?.map((row) => row['email_message_id'])).toEqual([
      messages.receipt,
      messages.reminder,
      null,
    ])
  })

  it('can duplicate a copy', async () => {
    const { edition, path } = await givenFull()
    const first = (await post(path, { name: 'Nordlys 2027' })).body
    const second = (await post(`/v1/editions/${first.id}/duplicate`, { name: 'Nordlys 2028' })).body
    const count = async (id: string) =>
      Object.fromEntries(Object.entries(await loadContents(id)).map(([table, rows]) => [table, rows.length]))
    expect(await count(second.id)).toEqual(await count(first.id))
    expect(await count(first.id)).toMatchObject({ products: 2, consents: 2, consent_versions: 2, email_messages: 3 })
    expect((await whereEdition('products', edition.id)).length).toBe(2)
  })

  it('takes a slug from the request if it is free, and otherwise makes one of the name', async () => {
    const { organisation, edition, path } = await seedSource()
    const event = { event_id: null }
    const reply = await post(path, { name: 'Nordlys Festival 2026', ...event })
    expect(reply.body).toMatchObject({ slug: 'nordlys-festival-2026', event: { id: edition.event_id } })
    expect((await post(path, { name: '2026' })).body.slug).toBe('nordlys-festival-2026-2')
    expect((await post(path, { name: '…' })).body.slug).toBe('nordlys-festival')
    const elsewhere = await seedSource()
    expect((await post(elsewhere.path, { name: 'X', slug: 'nordlys-festival-2026' })).status).toBe(201)
    expect(reply.body.organization.id).toBe(organisation.id)
  })

  it('gives simultaneous duplicates a slug each, and only one edition a slug from the request', async () => {
    const { path } = await givenFull()
    const generated = await Promise.all([1, 2, 3].map(() => post(path, { name: '2027' })))
    expect(generated.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set(generated.map(({ body }) => body.slug)).size).toBe(3)
    const chosen = await Promise.all([1, 2, 3].map(() => post(path, { name: '2027', slug: 'the-one' })))
    expect(chosen.map(({ status }) => status).toSorted()).toEqual([201, 400, 400])
    for (const reply of chosen.filter(({ status }) => status === 400))
      expect(codes(reply)).toEqual(buildRefusal('#/slug unique'))
  })

  it('is refused for invalid input, and makes nothing', async () => {
    const { edition, path } = await givenFull()
    const foreign = await givenEvent(await givenOrganization())
    const before = await dump()
    const name = 'Nordlys 2027'
    expect(codes(await post(path, { name, event_id: foreign.id }))).toEqual(buildRefusal('#/event_id does_not_exist'))
    expect(codes(await post(path, { name, event_id: 'evt_none' }))).toEqual(buildRefusal('#/event_id does_not_exist'))
    expect(codes(await post(path, { name, slug: edition.slug }))).toEqual(buildRefusal('#/slug unique'))
    for (const slug of ['with space', 'æ', 'a/b'])
      expect(codes(await post(path, { name, slug }))).toEqual(buildRefusal('#/slug invalid'))
    expect(codes(await post(path, { name, slug: '' }))).toEqual(buildRefusal('#/slug blank'))
    expect(codes(await post(path, { name, slug: 'x'.repeat(201) }))).toEqual(buildRefusal('#/slug max_length'))
    expect(codes(await post(path, { name: ' ', email_template_mode: 'both' }))).toEqual(
      buildRefusal('#/name blank', '#/email_template_mode invalid_choice'),
    )
    const after = await dump()
    expect(after).toEqual(before)
  })

  it('can copy an archived edition, and the copy is not archived', async () => {
    const { edition, path } = await givenFull()
    await write(sql`update editions set is_archived = 1, version = version + 1 where id = ${edition.id}`)
    const before = (await get(`/v1/editions/${edition.id}`)).text
    for (const email_template_mode of ['copy', 'share']) {
      const reply = await post(path, { name: `Again ${email_template_mode}`, email_template_mode })
      expect([reply.status, reply.body.is_archived, reply.body.is_draft]).toEqual([201, false, true])
      expect((await patch(`/v1/editions/${reply.body.id}`, { name: 'Ours' })).status).toBe(200)
    }
    expect((await get(`/v1/editions/${edition.id}`)).text).toBe(before)
  })

  it('copies nothing when the source changes at the same time', async () => {
    const { edition, messages } = await givenFull()
    const changes = [
      sql`delete from email_messages where id = ${messages.refund}`,
      sql`update editions set is_archived = 1, version = version + 1 where id = ${edition.id}`,
    ]
    for (const change of changes) {
      const ctx = createContextAt(Date.now())
      const recordWrite = async () => {
        await write(change)
        return []
      }
      const source = await findEdition(ctx, edition.id)
      const input = { name: 'Nordlys 2027', email_template_mode: 'copy' as const }
      await expect(duplicateEdition({ ...ctx, recordWrite }, source, input)).rejects.toThrow(LostRace)
    }
    const editionIds = await db.all(sql`select id from editions where organization_id = ${edition.organization_id}`)
    expect(editionIds).toHaveLength(1)
  })

  it('requires an admin or manager of the organisation', async () => {
    const { organisation, edition, path } = await seedSource()
    for (const [role, editionId, status] of [
      ['admin', undefined, 201],
      ['manager', undefined, 201],
      ['viewer', undefined, 403],
      ['admin', edition.id, 403],
      ['manager', edition.id, 403],
    ] as const) {
      const { token } = await givenMember(organisation, role, editionId)
      expect([role, editionId, (await post(path, { name: 'Mine' }, token)).status]).toEqual([role, editionId, status])
    }
    const { token } = await givenMember(await givenOrganization(), 'admin')
    expect((await post(path, { name: 'Mine' }, token)).status).toBe(404)
  })

  it('takes few queries, however much the edition owns', async () => {
    const { organisation, edition, path } = await seedSource()
    await seedEditionContents({ organization: organisation.id, edition: edition.id }, 2000)
    const { token } = await givenMember(organisation, 'admin')
    // The first use of a token is stored, which costs a statement.
    await get(`/v1/editions/${edition.id}`, token)
    const reply = await post(path, { name: 'Large' }, token)
    expect(reply.status).toBe(201)
    const cost = readCost(reply)
    expect(cost).toMatchObject({ queries: 28, round_trips: 5 })
    // 14,000 rows are found by an index, read and copied, each of them a few times.
    expect(cost.rows_read).toBeLessThan(90_000)
    const count = async (table: string) =>
      (
        await db.first(
          sql<{ n: number }>`select count(*) as n from ${sql.raw(table)} where edition_id = ${reply.body.id}`,
        )
      )?.n
    expect(await Promise.all(['categories', 'products', 'consents', 'pass_designs'].map(count))).toEqual([
      2000, 2000, 2000, 2000,
    ])
    expect((await listChildren('variants', reply.body.id)).length).toBe(2000)
  })
})

describe('an edition that was duplicated', () => {
  it('can be published without the source', async () => {
    const { path } = await seedSource({ is_draft: false, published_at: 1000 })
    const copy = (await post(path, { name: '2027' })).body
    const published = (await patch(`/v1/editions/${copy.id}`, { is_draft: false })).body
    expect(published).toMatchObject({ is_draft: false, published_at: published.modified })
  })
})
