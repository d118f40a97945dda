import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { recordLastSeen } from '../../src/db/customers.ts'
import { buildPeopleChanges, findPeople } from '../../src/modules/data-imports/undo/people.ts'
import { patch } from '../support/api.ts'
import { answer, expectWhole, listRecords } from '../support/consents.ts'
import { countContents } from '../support/orders.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { aRow } from '../support/seeding/imports/staged-imports.ts'
import { seedCampaign } from '../support/seeding/messaging/campaigns.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { seedSegment, givenSegment } from '../support/seeding/messaging/segments.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, seedShop, importOrders, type Shop } from '../support/seeding/sales/orders.ts'
import { calculate, listMembers } from '../support/segments.ts'
import { loadCustomer } from '../support/shared-customers.ts'
import { loadImport } from '../support/staged-imports.ts'
import { importFile, buildManyRows, dumpBeside, listUndone, undoToEnd } from '../support/undone-imports.ts'

let shop: Shop
beforeEach(async () => {
  shop = await seedShop()
})

async function receiveCampaign(user: string): Promise<void> {
  const place = { organization: shop.organization_id, edition: shop.edition_id }
  const { id: campaign } = await seedCampaign(place, (await seedSegment(place)).id, { status: 'sent' })
  await write(sql`insert into campaign_receipts (organization_id, user_id, campaign_id, received_at)
    values (${shop.organization_id}, ${user}, ${campaign}, ${Date.now()})`)
}

const findCustomer = async (order: string): Promise<string> =>
  (await db.first(sql<{ user_id: string }>`select user_id from orders where id = ${order}`))?.user_id ?? ''

describe('customers of an import that is undone', () => {
  const references: [string, (user: string) => Promise<unknown>][] = [
    ['a change by hand', (user) => patch(`/v1/user/${user}`, { first_name: 'Else' })],
    [
      'another edition',
      (user) =>
        write(sql`insert into edition_customers (edition_id, user_seq, created_at, locale)
      select id, (select seq from users where id = ${user}), 0, 'en' from editions where organization_id <> ${shop.organization_id} limit 1`),
    ],
    ['a campaign', (user) => receiveCampaign(user)],
    ['a visit', (user) => write(sql`update users set last_seen_at = 1 where id = ${user}`)],
  ]

  it.each(references)('stay when they have %s, and their orders go', async (_, refer) => {
    await seedShop()
    const { id, orders } = await importFile(shop, buildManyRows(2))
    await refer(await findCustomer(orders[0] as string))
    expect(await undoToEnd(id)).toMatchObject({ undone_orders: 2, kept_orders: 0 })
    expect(await countContents(shop)).toMatchObject({ orders: 0, users: 1 })
  })

  it('stay when they are seen between the decision and the deletion', async () => {
    const { organization_id, edition_id } = shop
    const [person] = await seedPeople({ organization: organization_id, edition: edition_id }, [{}])
    const { id } = await importFile(shop, buildManyRows(1))
    const row = { ...(await loadImport(id)), organization_id, edition_id }
    const people = await findPeople(db, row, [person?.id ?? ''], { changeable: null })
    expect(people).toMatchObject([{ is_used: 0 }])
    const change = { id: person?.id ?? '', is_new: true, filled_fields: {}, edition_values: null }
    const { statements } = buildPeopleChanges(row, people, [change], { changeable: null, now: Date.now() })
    await write(...recordLastSeen([{ user_id: person?.id ?? '', at: Date.now() }]))
    await expect(db.batch(statements)).rejects.toThrow('malformed JSON')
    expect(await countContents(shop)).toMatchObject({ users: 2 })
    await write(sql`update users set last_seen_at = null where id = ${person?.id}`)
    await db.batch(statements)
    expect(await countContents(shop)).toMatchObject({ users: 1 })
  })

  it('are removed from segments, so that a later customer with the same number is not a member', async () => {
    const segment = await givenSegment({ ...shop, expression: 'true' })
    const laterOrders = await importOrders(shop, [anOrder({ customer: { email: 'kept@example.dk' } })])
    expect(laterOrders.status).toBe(201)
    const { id } = await importFile(shop, buildManyRows(3))
    await calculate(segment.id)
    const before = await listMembers(segment.id)
    expect(before).toHaveLength(4)
    await undoToEnd(id)
    expect(await listMembers(segment.id)).toHaveLength(1)
    const sets = await db.all(sql`select m.* from segment_members m join segments s on s.seq = m.segment_seq
      where s.id = ${segment.id}`)
    expect(sets).toHaveLength(1)
    const row = await db.first(
      sql<{
        matched_count: number
        user_count: number
        excluded: string
      }>`select * from segments where id = ${segment.id}`,
    )
    const excluded = Object.values(JSON.parse(row?.excluded ?? '{}') as Record<string, number>)
    expect(row?.matched_count).toBe(1)
    expect((row?.user_count ?? 0) + excluded.reduce((sum, n) => sum + n, 0)).toBe(1)
  })
})

describe('consents from an import that is undone', () => {
  async function seedAnsweredOrder() {
    const definition = (await givenConsent(shop.organization_id, {})) as { id: string; key: string }
    await write(
      sql`update consents set created_at = 0 where id = ${definition.id}`,
      sql`update consent_versions set created_at = 0 where consent_id = ${definition.id}`,
    )
    return definition
  }
  const loadStats = (consent: string) => db.first(sql`select * from consent_stats where consent_id = ${consent}`)

  it('are withdrawn with their orders, and the earlier answer is current again', async () => {
    const { id: consent, key } = await seedAnsweredOrder()
    const email = 'answers@example.dk'
    const old = { 'customer.email': email, 'order.created': Date.UTC(2026, 0, 1), [`consent.${key}`]: false }
    await importFile(shop, [aRow(old)], { skipped: true })
    const before = [await loadStats(consent), await dumpBeside()]
    const rows = [5, 6].map((day) =>
      aRow({ ...old, 'order.created': Date.UTC(2026, 0, day), [`consent.${key}`]: day === 6 }),
    )
    const { id } = await importFile(shop, rows, { skipped: true })
    const { id: user } = await loadCustomer(shop, email)
    expect((await listRecords(user, consent)).map(({ status }) => status)).toEqual(['skipped', 'given'])
    await undoToEnd(id)
    expect((await listRecords(user, consent)).map(({ status, is_latest }) => [status, is_latest])).toEqual([
      ['skipped', 1],
    ])
    expect([await loadStats(consent), await dumpBeside()]).toEqual(before)
    await expectWhole(shop.organization_id)
  })

  it('stay as proof, with the order and the customer, when the person has answered again since', async () => {
    const { id: consent, key } = await seedAnsweredOrder()
    const { id, orders } = await importFile(shop, [aRow({ [`consent.${key}`]: true }), aRow()])
    const user = await findCustomer(orders[0] as string)
    const reply = await answer('withdraw', { user, consent })
    expect(reply.status, reply.text).toBe(200)
    await undoToEnd(id)
    expect((await listUndone(id)).map(({ undo_reason }) => undo_reason)).toEqual(['consent_answered', null])
    expect((await listRecords(user, consent)).map(({ status }) => status)).toEqual(['given', 'withdrawn'])
    await expectWhole(shop.organization_id)
  })

  it('stay as proof with the customer when a campaign relied on them', async () => {
    const { id: consent, key } = await seedAnsweredOrder()
    const { id, orders } = await importFile(shop, [aRow({ [`consent.${key}`]: true })])
    const user = await findCustomer(orders[0] as string)
    await receiveCampaign(user)
    expect(await undoToEnd(id)).toMatchObject({ undone_orders: 1 })
    expect((await listRecords(user, consent)).map(({ status }) => status)).toEqual(['given'])
    expect(await countContents(shop)).toMatchObject({ orders: 0, users: 1 })
  })
})
