import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { insertEditionCustomers } from '../../src/db/customers.ts'
import { get, post } from '../support/api.ts'
import { seedLocation } from '../support/seeding/catalogue.ts'
import { buildBareMembership } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'
import { db, freshId, write } from '../support/seeding/rows.ts'
import { seedTrades, type Trade } from '../support/seeding/sales/trades.ts'
import { calculate } from '../support/segments.ts'

const copenhagen = 'Europe/Copenhagen'

let organisation: Organization
let edition: { id: string }
/** Tickets of people. Each test uses those that it names. */
let trades: Trade[]
let gate: string

/** Uses the ticket of a person at a time. */
async function seedUseAt(person: number, at: string, columns: { location_id?: string; reverted_at?: number } = {}) {
  const { location_id = null, reverted_at = null } = columns
  await write(sql`insert into purchase_uses (id, purchase_id, quantity, location_id, used_at, reverted_at, created_at)
    values (${freshId('purchase_use')}, ${trades[person]?.purchase}, 1, ${location_id}, ${Date.parse(at)}, ${reverted_at}, 1)`)
}

const buyAt = (person: number, at: string) =>
  write(sql`update orders set created_at = ${Date.parse(at)} where id = ${trades[person]?.order}`)

const place = (edition_id: string | null = edition.id) => ({ organization_id: organisation.id, edition_id })

/** Finds the people for whom the expression holds, whether they may get a message or not. */
async function findMembers(expression: string, edition_id: string | null = edition.id): Promise<number[]> {
  const { id } = await givenSegment({ ...place(edition_id), expression })
  const { seq, members_epoch } = await calculate(id)
  const rows = await db.all(sql<{ id: string }>`select users.id from segment_members join users on users.seq = user_seq
    where segment_seq = ${seq} and epoch = ${members_epoch}`)
  return trades.flatMap(({ user }, index) => (rows.some((row) => row.id === user) ? [index] : []))
}

beforeAll(async () => {
  organisation = await givenOrganization()
  edition = await seedEdition(organisation, {
    timezone: copenhagen,
    start_at: Date.parse('2026-03-28T20:00:00+01:00'),
    end_at: Date.parse('2026-03-30T02:00:00+02:00'),
  })
  const here = { organization: organisation.id, edition: edition.id }
  trades = await seedTrades(here, 8)
  gate = await seedLocation(here)
  // Clocks go from 02:00 to 03:00 on Sunday the 29th.
  await seedUseAt(0, '2026-03-27T23:00:00Z', { location_id: gate })
  await seedUseAt(1, '2026-03-27T22:59:59.999Z')
  await seedUseAt(2, '2026-03-28T22:59:59.999Z')
  await seedUseAt(3, '2026-03-28T23:00:00Z')
  await seedUseAt(4, '2026-03-29T21:59:59.999Z', { location_id: gate })
  await seedUseAt(5, '2026-03-29T22:00:00Z')
  await seedUseAt(6, '2026-03-28T12:00:00Z', { reverted_at: 1, location_id: gate })
})

describe('an expression about uses of purchases', () => {
  const cameOn = (condition: string) => `purchases.exists(p, p.uses.exists(u, ${condition}))`

  it.each([
    ['6', [0, 2]],
    ['5', [1]],
    ['0', [3, 4]],
    ['1', [5]],
  ])('finds who came on day %s of the week, in the time zone of the edition', async (day, people) => {
    expect(await findMembers(cameOn(`u.used_at.getDayOfWeek(edition.timezone) == ${day}`))).toEqual(people)
    expect(await findMembers(cameOn(`u.used_at.getDayOfWeek("${copenhagen}") == ${day}`), null)).toEqual(people)
  })

  it('finds who came on a day of the edition, also when clocks change on it', async () => {
    const cameOnDay = (day: number) => findMembers(cameOn(`u.used_at.getDayOfEdition() == ${day}`))
    expect([await cameOnDay(-1), await cameOnDay(0), await cameOnDay(1), await cameOnDay(2)]).toEqual([
      [1],
      [0, 2],
      [3, 4],
      [5],
    ])
  })

  it('has local hours on both sides of a change of clocks', async () => {
    await seedUseAt(7, '2026-03-29T00:59:59Z')
    expect(await findMembers(cameOn(`u.used_at.getHours(edition.timezone) == 1`))).toEqual([7])
    await seedUseAt(7, '2026-03-29T01:00:00Z')
    expect(await findMembers(cameOn(`u.used_at.getHours(edition.timezone) == 3`))).toEqual([7])
    expect(await findMembers(cameOn(`u.used_at.getHours(edition.timezone) == 2`))).toEqual([])
    expect(await findMembers(cameOn(`u.used_at.getHours("+05:45") == 6`))).toEqual([7])
    await write(sql`delete from purchase_uses where purchase_id = ${trades[7]?.purchase}`)
  })

  it('finds the place, and leaves out reverted uses', async () => {
    expect(await findMembers(cameOn(`u.location_id == "${gate}"`))).toEqual([0, 4])
    expect(await findMembers('purchases.exists(p, size(p.uses) > 0)')).toEqual([0, 1, 2, 3, 4, 5])
    expect(await findMembers(cameOn('u.location_id == null && u.quantity == 1'))).toEqual([1, 2, 3, 5])
    const { body } = await post('/v1/segments/validate-cel', {
      ...place(),
      expression: cameOn('u.location_id == "loc_unknown"'),
    })
    expect(body).toMatchObject({ estimated_user_count: 0, warnings: [{ code: 'unknown_value' }] })
  })

  it('is explained for one person', async () => {
    const expression = `${cameOn('u.used_at.getDayOfWeek(edition.timezone) == 6')} && user.is_active`
    const { id } = await givenSegment({ ...place(), expression })
    const { body } = await get(`/v1/segments/${id}/explain?user_id=${trades[3]?.user}`)
    expect(body.parts.map(({ value }: { value: boolean }) => value)).toEqual([false, false, true])
  })

  it('does not see uses in another edition', async () => {
    const other = await seedEdition(organisation, { timezone: 'UTC' })
    await write(...insertEditionCustomers([buildBareMembership(other.id, trades[0]?.user ?? '')]))
    expect(await findMembers('purchases.exists(p, size(p.uses) > 0)', other.id)).toEqual([])
  })
})

describe('an expression about days of the edition', () => {
  const fortnight = 'orders.exists(o, o.created.getDayOfEdition() >= -14 && o.created.getDayOfEdition() < 0)'

  it('finds who bought in the last 14 days before it began, from midnight to midnight', async () => {
    await buyAt(0, '2026-03-13T22:59:59.999Z')
    await buyAt(1, '2026-03-13T23:00:00Z')
    await buyAt(2, '2026-03-27T22:59:59.999Z')
    await buyAt(3, '2026-03-27T23:00:00Z')
    for (const person of [4, 5, 6, 7]) await buyAt(person, '2025-03-20T12:00:00Z')
    expect(await findMembers(fortnight)).toEqual([1, 2])
    expect(await findMembers('orders.exists(o, o.created.getDayOfEdition() == -373)')).toEqual([4, 5, 6, 7])
  })

  it('follows a new start and another time zone at the next calculation', async () => {
    await write(sql`update editions set start_at = start_at + 86400000 where id = ${edition.id}`)
    expect(await findMembers(fortnight)).toEqual([2, 3])
    await write(sql`update editions set start_at = start_at - 86400000, timezone = 'UTC' where id = ${edition.id}`)
    expect(await findMembers(fortnight)).toEqual([2, 3])
    await write(sql`update editions set timezone = ${copenhagen} where id = ${edition.id}`)
    expect(await findMembers(fortnight)).toEqual([1, 2])
  })

  it.each([
    ['without a start', true],
    ['of the whole organisation', false],
  ])('is an error for everybody in a segment %s', async (_, isEdition) => {
    const start = await db.first(sql<{ start_at: number }>`select start_at from editions where id = ${edition.id}`)
    if (isEdition) await write(sql`update editions set start_at = null where id = ${edition.id}`)
    const at = isEdition ? edition.id : null
    expect(await findMembers(fortnight, at)).toEqual([])
    expect(await findMembers(`!${fortnight}`, at)).toEqual([])
    if (isEdition) await write(sql`update editions set start_at = ${start?.start_at} where id = ${edition.id}`)
    else expect(await findMembers('edition.timezone == "" || edition.timezone != ""', at)).toEqual([])
  })

  it('compares the name of the time zone', async () => {
    expect(await findMembers(`edition.timezone == "${copenhagen}"`)).toHaveLength(8)
  })
})

describe('a time zone that does not exist', () => {
  it('is refused with its place and the nearest name', async () => {
    const expression = 'user.date_joined.getHours("Europe/Kopenhagen") == 1'
    const { body } = await post('/v1/segments/validate-cel', { ...place(), expression })
    expect(body.errors).toMatchObject([
      { code: 'unknown_time_zone', message: expect.stringContaining('Did you mean "Europe/Copenhagen"?'), start: 26 },
    ])
  })

  it('is refused when it is long or hostile, and when there are too many', async () => {
    for (const zone of ['x'.repeat(3000), "UTC' or 1=1 --", '', '+1:00', '😀']) {
      const expression = `user.date_joined.getHours(${JSON.stringify(zone)}) == 1`
      const { body } = await post('/v1/segments/validate-cel', { ...place(), expression })
      expect([zone, body.errors]).toMatchObject([zone, [{ code: 'unknown_time_zone' }]])
    }
    const expression = Array.from({ length: 13 }, () => 'user.date_joined.getDayOfEdition() == 1').join(' || ')
    const { body } = await post('/v1/segments/validate-cel', { ...place(), expression })
    expect(body.errors).toMatchObject([{ code: 'limit_exceeded' }])
  })
})
