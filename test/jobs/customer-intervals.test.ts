import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { recountCustomerIntervals, settleCustomerIntervals } from '../../src/modules/users/jobs.ts'
import { patch, post, rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import {
  expectIntervalsToHold,
  expectPagesByNumber,
  later,
  orderings,
  seedManyCustomers,
  settleAll,
  storedCustomers,
} from '../support/customer-intervals.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { databaseEndingAfter, shortSizes } from '../support/intervals.ts'
import { readAs } from '../support/lists.ts'
import { finishErasures } from '../support/personal-data.ts'
import { seedStarted } from '../support/seeding/imports/staged-imports.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'

const dayMs = 86_400_000

beforeEach(() =>
  write(
    ...['list_sizes', 'customer_intervals', 'settled_lists', 'storage_sweeps'].map(
      (name) => sql`delete from ${sql.raw(name)}`,
    ),
  ),
)

async function givenMany(count: number): Promise<string> {
  const { id } = await givenOrganization()
  await seedManyCustomers(id, count)
  return id
}

it('intervals lead to a page far from both ends, and it reads few rows', async () => {
  const organization = await givenMany(9_000)
  await givenMany(600)
  await settleAll(later)
  const intervals = await expectIntervalsToHold(organization)
  expect(intervals).toBeGreaterThan(400)
  expect(intervals).toBeLessThan(1000)
  const numbers = [3, 22, 45, 63, 70, 89]
  const { token } = await givenMember({ id: organization }, 'viewer')
  const stranger = await givenMember(await givenOrganization(), 'admin')
  for (const ordering of orderings) {
    await expectPagesByNumber(organization, { ordering, numbers })
    await expectPagesByNumber(organization, { ordering, numbers: [50], token })
    for (const page of [32, 60]) {
      const path = `/v1/user?organization_id=${organization}&ordering=${ordering}&page=${page}`
      const cost = costOf(await readAs(rootToken, path)).rows_read
      expect([ordering, page, Math.max(1100, cost)]).toEqual([ordering, page, 1100])
      expect((await readAs(stranger.token, path)).status).toBe(404)
    }
  }
})

const some = fc.record({ part: fc.constantFrom(3, 40, 700), rest: fc.nat({ max: 700 }) })
const changes = {
  address: sql`email = iif(email is null, null, 'x' || (seq * 7919 % 997) || email)`,
  'no address': sql`email = iif(coalesce(phone_number, '+4511111111') = '+4511111111', email, null),
    phone_number = iif(coalesce(phone_number, '+4511111111') = '+4511111111', phone_number, '+47' || seq)`,
  number: sql`phone_number = iif(email is null, phone_number, '+4511111111')`,
  'no number': sql`phone_number = iif(email is null, phone_number, null)`,
  seen: sql`last_seen_at = coalesce(last_seen_at, created_at) * 13 % 90000`,
  unseen: sql`last_seen_at = null`,
  joined: sql`created_at = created_at * 3 % ${later}`,
  'joined now': sql`created_at = ${later}`,
  erased: sql`email = null, phone_number = id, erased_at = 1`,
  nothing: sql`email = email, first_name = 'x'`,
}
const act = fc.oneof(
  fc.record({ act: fc.constant('insert' as const), many: fc.constantFrom(1, 6, 120), isLate: fc.boolean() }),
  fc.record({ act: fc.constant('change' as const), some, set: fc.constantFrom(...Object.keys(changes)) }),
  fc.record({ act: fc.constant('change' as const), some, set: fc.constantFrom(...Object.keys(changes)) }),
  fc.record({ act: fc.constant('delete' as const), some }),
  fc.record({ act: fc.constant('settle' as const), steps: fc.constantFrom(1, 3, 10_000), isLate: fc.boolean() }),
)
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

async function perform(one: Act, organization: string): Promise<void> {
  const own = sql`organization_id = ${organization}`
  if (one.act === 'insert') {
    await seedManyCustomers(organization, one.many)
    if (one.isLate)
      await write(sql`update users set created_at = ${later - 60_000}
        where ${own} and seq > (select max(seq) - ${one.many} from users)`)
    return
  }
  if (one.act === 'settle') {
    const now = one.isLate ? later + dayMs : later
    return settleCustomerIntervals({ db, now: () => now }, { ...shortSizes, stepsASweep: one.steps })
  }
  const areSome = sql`${own} and seq % ${one.some.part} = ${one.some.rest % one.some.part}`
  if (one.act === 'delete') await write(sql`delete from users where ${areSome}`)
  else await write(sql`update users set ${changes[one.set as keyof typeof changes]} where ${areSome}`)
}

it('intervals are exact through every change, have keys of customers alone, and lead to the pages', async () => {
  let most = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 12 }), fc.nat({ max: 50 }), async (acts, number) => {
      await write(sql`delete from list_sizes`)
      const organization = await givenMany(4_600)
      await settleCustomerIntervals({ db, now: () => later - 20 * dayMs }, shortSizes)
      for (const one of acts) {
        await perform(one, organization)
        most = Math.max(most, await expectIntervalsToHold(organization))
      }
      for (const ordering of orderings)
        await expectPagesByNumber(organization, { ordering, numbers: [number, 21, 24, 28, 31, 35, 39, 44] })
      await write(sql`delete from users where organization_id = ${organization}`)
      expect(await expectIntervalsToHold(organization)).toBeLessThanOrEqual(6)
    }),
    { numRuns: dearRuns(3) },
  )
  expect(most).toBeGreaterThan(200)
})

describe('the sweeps of intervals of customers', () => {
  const night = (day: number, minute: number) => Date.UTC(2027, 5, day, 3, minute)
  async function nights(day: number): Promise<string[]> {
    const wrong: string[] = []
    for (let minute = 0; minute < 30; minute++)
      await recountCustomerIntervals({ db, now: () => night(day, minute) }).catch((error: unknown) =>
        wrong.push(String(error)),
      )
    return wrong
  }

  it('leave exact counts wherever they end, and go on', async () => {
    const organization = await givenMany(1_500)
    for (let steps = 0; steps < 8; steps++) {
      const ended = databaseEndingAfter(steps)
      await settleCustomerIntervals({ db: ended, now: () => later }, shortSizes).catch(() => null)
      await expectIntervalsToHold(organization)
    }
    await settleAll(later)
    expect(await expectIntervalsToHold(organization)).toBeGreaterThan(40)
  })

  it('repair intervals at night, divide those that are long, and say and keep no address', async () => {
    const organization = await givenMany(3_000)
    await settleAll(later)
    expect(await nights(1)).toEqual([])
    await settleAll(later, { ...shortSizes, rows: 1_000_000 })
    await write(
      sql`delete from customer_intervals where scope = ${organization} and ordering = 'phone' and value <> ''`,
      sql`update customer_intervals set total = total + 3 where scope = ${organization} and ordering in ('email', 'seen')`,
    )
    await expect(expectIntervalsToHold(organization)).rejects.toThrow('to deeply equal')
    const wrong: string[] = []
    const places: unknown[] = []
    for (let minute = 0; minute < 30; minute++) {
      await recountCustomerIntervals({ db, now: () => night(2, minute) }).catch((error: unknown) =>
        wrong.push(String(error)),
      )
      places.push(await db.all(sql`select * from storage_sweeps`))
    }
    await expectIntervalsToHold(organization)
    expect(wrong.join()).toContain('Counts of intervals were wrong')
    expect(wrong.join()).toContain(`["${organization}","email",null,`)
    expect(wrong.join()).toContain(`["${organization}","phone",null,`)
    const { length } = (await storedCustomers(organization)).filter(({ email }) => email !== null)
    expect(length).toBeGreaterThan(2000)
    expect(JSON.stringify([wrong, places])).not.toMatch(/@example|\+45/)
    expect(JSON.stringify(places)).toContain(`\\"email\\",null,`)
    expect(await nights(3)).toEqual([])
  })

  it('go on at night where a customer whose key they have read has gone', async () => {
    const organization = await givenMany(3_000)
    await settleAll(later)
    await recountCustomerIntervals({ db, now: () => night(1, 0) })
    const position = await db.first(
      sql<{ after_key: string }>`select after_key from storage_sweeps where name = 'recount customer intervals'`,
    )
    await write(
      sql`delete from users where seq = ${JSON.parse(position?.after_key ?? '[]')[4]}`,
      sql`update customer_intervals set total = total + 1 where scope = ${organization} and ordering = 'unseen'`,
    )
    expect((await nights(1)).join()).toContain('Counts of intervals were wrong')
    await expectIntervalsToHold(organization)
  })

  it('wait until an import has ended', async () => {
    const shop = await seedShop()
    await importOrders(shop, [anOrder()])
    const id = await seedStarted(shop, [])
    const now = Date.now() + 600_000
    await settleAll(now)
    expect(await expectIntervalsToHold(shop.organization_id)).toBe(0)
    await write(sql`update data_imports set phase = null, status = 'completed' where id = ${id}`)
    await settleAll(now)
    expect(await expectIntervalsToHold(shop.organization_id)).toBe(6)
  })
})

describe('a customer', () => {
  it('who is new writes nothing for intervals, nor does a further order of one who is known', async () => {
    const shop = await seedShop()
    const written = async (email: string) => {
      const reply = await importOrders(shop, [anOrder({ customer: { email } })])
      expect(reply.status).toBe(201)
      return costOf(reply).rows_written
    }
    await written('first@example.dk')
    await written('other@example.dk')
    const before = [await written('new@example.dk'), await written('first@example.dk')]
    await write(
      sql`update users set created_at = created_at - 86400000 where organization_id = ${shop.organization_id}`,
    )
    await settleAll(Date.now())
    expect(await expectIntervalsToHold(shop.organization_id)).toBe(6)
    expect([await written('next@example.dk'), await written('first@example.dk')]).toEqual(before)
    await expectIntervalsToHold(shop.organization_id)
  })

  it.each(['email', 'phone_number'] as const)(
    'whose %s is the key of an interval takes it along when it changes, when they are erased, and when they go',
    async (column) => {
      const organization = await givenMany(3_000)
      await settleAll(later)
      const name = column === 'email' ? 'email' : 'phone'
      const keys = () =>
        db.all(sql<{ id: string; value: string }>`select users.id, value from customer_intervals join users using (seq)
          where scope = ${organization} and ordering = ${name} and users.email is not null order by value`)
      const all = await keys()
      expect(all.length).toBeGreaterThan(8)
      const [changed, erased, gone] = [all[3], all[5], all[7]]
      const given = column === 'email' ? 'zzz@example.dk' : '+4531234567'
      expect((await patch(`/v1/user/${changed?.id}`, { [column]: given })).status).toBe(200)
      await expectIntervalsToHold(organization)
      expect((await post(`/v1/user/${erased?.id}/erase`, {})).status).toBe(200)
      await finishErasures()
      await expectIntervalsToHold(organization)
      const { rows_written: before } = db.meter
      await write(sql`delete from users where id = ${gone?.id}`)
      expect(db.meter.rows_written - before).toBeLessThan(20)
      const left = await keys()
      expect(left).toEqual(all.filter((_, index) => ![3, 5, 7].includes(index)))
      await expectIntervalsToHold(organization)
      const places = [changed, erased, gone].map((one) => one?.value ?? '')
      const kept = await db.all(sql`select * from customer_intervals
        where value in (select value from json_each(${JSON.stringify(places)}))`)
      expect(column === 'email' ? kept : []).toEqual([])
      for (const ordering of orderings) await expectPagesByNumber(organization, { ordering, numbers: [23, 27] })
    },
  )
})
