import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { shortId } from '../../src/db/short-ids.ts'
import { beginCustomerRuns, buildCustomerRuns } from '../../src/modules/users/jobs.ts'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import {
  act,
  build,
  changeCustomers,
  customersOf,
  expectEdition,
  expectRole,
  forgetRuns,
  later,
  type ManyCustomers,
  orderings,
  seedEditionCustomers,
  shortSizes,
  tokenOfEditions,
} from '../support/customer-runs.ts'
import { seedManyCustomers } from '../support/customer-intervals.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { databaseEndingAfter } from '../support/intervals.ts'
import { readAs } from '../support/lists.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db, write } from '../support/seeding/rows.ts'

const dayMs = 86_400_000
/** Of a page of 100, with chunks of 40 customers. */
const mostRows = 900
const mostOfSeveral = 600

const generations = async (): Promise<number[]> =>
  (await db.all(sql<{ generation: number }>`select generation from customer_run_states order by generation`)).map(
    ({ generation }) => generation,
  )

describe('a list of the customers of an edition', () => {
  let place: ManyCustomers
  beforeAll(async () => {
    await forgetRuns()
    place = await seedEditionCustomers(1_300)
    await seedEditionCustomers(200)
    await build(later)
  })

  it.each(orderings)('has each customer once, in the order %s', async (ordering) => {
    for (const edition of place.editions) await expectEdition(edition, ordering)
  })

  it.each(orderings)('shows roles of the edition what it was given, in the order %s', async (ordering) => {
    for (const edition of place.editions) {
      const { token } = await givenMember({ id: place.organization }, 'viewer', edition)
      const asked = [`edition_id=${edition}`, `organization_id=${place.organization}`, ''][
        orderings.indexOf(ordering) % 3
      ]
      await expectRole({ token, editions: [edition] }, ordering, asked)
    }
  })

  it('is the same for roles of the organisation, and empty for others', async () => {
    const { token } = await givenMember({ id: place.organization }, 'viewer')
    const stranger = await givenMember(await givenOrganization(), 'admin')
    for (const ordering of ['email', '-date_joined']) {
      await expectEdition(place.editions[1] ?? '', ordering, token)
      const reply = await readAs(stranger.token, `/v1/user?edition_id=${place.editions[1]}&ordering=${ordering}`)
      expect([reply.body.count, reply.body.results]).toEqual([0, []])
    }
  })

  it('costs few rows wherever its customers stand', async () => {
    const dear: [string, number][] = []
    const [edition = ''] = place.editions
    const { token: ofRole } = await givenMember({ id: place.organization }, 'viewer', edition)
    for (const ordering of orderings)
      for (const token of [rootToken, ofRole])
        for (const page of [1, 5, 11, 13]) {
          const query = `edition_id=${edition}&ordering=${ordering}&page_size=100&page=${page}`
          const reply = await readAs(token, `/v1/user?${query}`)
          const { rows_read } = costOf(reply)
          if (rows_read > mostRows) dear.push([query, rows_read])
        }
    expect(dear).toEqual([])
  })
})

/** Editions of roles: one with all customers and one with a third of them, those with fewer, all, and each alone. */
const severals = [
  [0, 1],
  [1, 2],
  [0, 1, 2],
  [0, 2],
]
const places = [...severals, [0], [1], [2]]

/** Which lists of several editions their runs serve. */
const haveOwners = async (): Promise<boolean> =>
  (await db.all(sql`select 1 from customer_run_states where generation > 0 and owners_generation <> generation`))
    .length === 0

it('pages by runs of customers are exact through every change', async () => {
  let served = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 5, maxLength: dearRuns(10, 6) }),
      fc.tuple(fc.constantFrom(...orderings), fc.constantFrom(...orderings)),
      async (acts, asked) => {
        await forgetRuns()
        const place = await seedEditionCustomers(700)
        const { organization } = place
        const roles = await Promise.all(
          places.map(async (some) => {
            const editions = some.map((index) => place.editions[index] ?? '')
            return { editions, token: await tokenOfEditions(organization, editions) }
          }),
        )
        let now = later
        await build(now)
        expect(await haveOwners()).toBe(true)
        for (const [index, one] of acts.entries()) {
          if (one.act === 'settle') {
            if (one.isNextDay) now += dayMs
            await build(now, { ...shortSizes, stepsASweep: one.steps })
          } else await changeCustomers(one, place)
          const [edition = '', ordering = ''] = [place.editions[index % 3], asked[index % 2]]
          await expectEdition(edition, ordering)
          const [several, alone] = [roles[index % severals.length], roles[severals.length + (index % 3)]]
          if (alone) await expectRole(alone, ordering)
          if (several) await expectRole(several, ordering, `organization_id=${organization}`)
        }
        served = Math.max(served, ...(await generations()))
      },
    ),
    { numRuns: dearRuns(3) },
  )
  expect(served).toBeGreaterThan(0)
})

describe('roles of several editions', () => {
  it('have each of their customers once, as they are shown', async () => {
    await forgetRuns()
    const place = await seedEditionCustomers(1_300)
    const others = await seedEditionCustomers(300)
    await build(later)
    for (const [index, ordering] of orderings.slice(0, dearRuns(orderings.length, 4)).entries())
      for (const some of [places[index % 2] ?? [], [0, 1, 2]].slice(0, dearRuns(2))) {
        const editions = some.map((one) => place.editions[one] ?? '')
        const asked = index % 4 < 2 ? `organization_id=${place.organization}` : ''
        const token = await tokenOfEditions(place.organization, editions)
        await expectRole({ token, editions }, ordering, asked)
        await expectRole({ token, editions: [] }, ordering, `organization_id=${others.organization}`)
      }
  })

  it('have them where they joined first, though an edition took all of them in later', async () => {
    await forgetRuns()
    const { organization, editions } = await seedEditionCustomers(900)
    const [all = '', third = ''] = editions
    await write(
      sql`update edition_customers set created_at = created_at + ${400 * dayMs} where edition_short_id = ${shortId(third)}`,
    )
    await build(later)
    const token = await tokenOfEditions(organization, [all, third])
    for (const ordering of ['date_joined', '-date_joined'])
      await expectRole({ token, editions: [all, third] }, ordering, `organization_id=${organization}`)
    const newest = `/v1/user?organization_id=${organization}&page_size=100&ordering=-date_joined`
    for (const page of [1, 4])
      expect(costOf(await readAs(token, `${newest}&page=${page}`)).rows_read).toBeLessThan(mostOfSeveral)
  })

  it('have them without runs, too, found once for each state', async () => {
    await forgetRuns()
    const place = await seedEditionCustomers(3_000)
    const editions = place.editions.slice(1)
    const token = await tokenOfEditions(place.organization, editions)
    const asked = `organization_id=${place.organization}`
    for (const ordering of orderings.slice(0, dearRuns(orderings.length, 4)))
      await expectRole({ token, editions }, ordering, asked)
    const page = `/v1/user?${asked}&ordering=email&page=6`
    // Another order of before may have taken the slot of this one.
    await readAs(token, page)
    expect(costOf(await readAs(token, page)).rows_read).toBeLessThan(900)
    for (const one of [
      { act: 'give', some: { part: 3, rest: 1 }, set: 'email' },
      { act: 'leave', some: { part: 40, rest: 3 }, edition: 1 },
      { act: 'join', some: { part: 40, rest: 5 }, edition: 2 },
      { act: 'give', some: { part: 3, rest: 2 }, set: 'joined' },
      { act: 'change', some: { part: 3, rest: 2 }, set: 'seen' },
    ] as const) {
      await changeCustomers(one, place)
      for (const ordering of ['-email', 'date_joined', 'last_seen'].slice(0, dearRuns(3)))
        await expectRole({ token, editions }, ordering, asked)
    }
  })
})

describe('the sweep of runs of customers', () => {
  beforeEach(forgetRuns)

  it('leaves exact pages wherever it ends, and goes on', async () => {
    const { editions, organization } = await seedEditionCustomers(400)
    for (let steps = 0; steps < 16; steps++) {
      const job = { db: databaseEndingAfter((steps * 3) % 47), now: () => later + steps * 200_000 }
      await beginCustomerRuns(job, shortSizes).catch(() => null)
      await buildCustomerRuns(job, shortSizes).catch(() => null)
      await write(sql`update users set email = 'a' || (seq * 7919 % 997) || '-' || email
        where organization_id = ${organization} and seq % 31 = ${steps % 31}`)
      await expectEdition(editions[steps % 2] ?? '', steps % 4 < 2 ? 'email' : '-date_joined')
    }
    expect(Math.max(...(await generations()))).toBeGreaterThan(1)
  })

  it('keeps pages exact when the number of a deleted customer is used again', async () => {
    const place = await seedEditionCustomers(300)
    const [edition = ''] = place.editions
    await build(later)
    const newest = (await customersOf(edition)).toSorted((a, b) => b.seq - a.seq)[0]
    for (const settles of [[], [later], [later + dayMs]]) {
      await changeCustomers({ act: 'delete newest', many: 4 }, place)
      for (const now of settles) await build(now)
      await seedManyCustomers(place.organization, 4)
      await write(sql`insert into edition_customers (edition_short_id, user_seq, created_at)
        select ${shortId(edition)}, seq, created_at from users order by seq desc limit 4`)
      const again = (await customersOf(edition)).toSorted((a, b) => b.seq - a.seq)[0]
      expect(again?.seq).toBe(newest?.seq)
      expect(again?.id).not.toBe(newest?.id)
      for (const ordering of ['email', 'date_joined', '-phone_number']) await expectEdition(edition, ordering)
    }
  })

  it('stores no address a day after it was erased', async () => {
    const { editions, organization } = await seedEditionCustomers(300)
    await build(later)
    const stored = async () => {
      const rows = await db.all(sql<{ walked_at: number }>`select walked_at from customer_run_states
        where edition_short_id = ${shortId(editions[0] ?? '')}`)
      return rows[0]?.walked_at
    }
    expect(await stored()).toBe(later)
    await write(
      sql`update users set email = null, phone_number = id where organization_id = ${organization} and seq % 300 = 7`,
    )
    await build(later + dayMs - 1)
    expect(await stored()).toBe(later)
    await build(later + dayMs)
    expect(await stored()).toBe(later + dayMs)
    expect(
      await db.all(
        sql`select * from customer_runs where generation = 1 and edition_short_id = ${shortId(editions[0] ?? '')}`,
      ),
    ).toEqual([])
    await build(later + 3 * dayMs)
    expect(await stored()).toBe(later + dayMs)
  })

  it('leaves out editions with few customers, and writes nothing while nothing is due', async () => {
    const { editions } = await seedEditionCustomers(300)
    await build(later, { ...shortSizes, fewestRows: 150 })
    expect(await generations()).toEqual([1])
    await build(later, { ...shortSizes, fewestRows: 60 })
    expect((await generations()).length).toBeGreaterThanOrEqual(2)
    await build(later, shortSizes)
    const before = db.meter.rows_written
    for (let minutes = 0; minutes < 3; minutes++) await build(later, shortSizes)
    expect(db.meter.rows_written - before).toBe(0)
    for (const edition of editions) await expectEdition(edition, 'email')
  })
})
