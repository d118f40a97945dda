import { sql } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { shortId } from '../../src/db/short-ids.ts'
import { costOf } from '../support/cost.ts'
import { dearRuns } from '../support/dear-runs.ts'
import {
  build,
  changeCustomers,
  expectRole,
  forgetRuns,
  later,
  type ManyCustomers,
  orderings,
  seedEditionCustomers,
  shortSizes,
  tokenOfEditions,
} from '../support/customer-runs.ts'
import { readAs } from '../support/lists.ts'
import { db, write } from '../support/seeding/rows.ts'

/** Of a page of 100, of some hundred customers with chunks of 40. Without runs all of them are read, by more rows. */
const mostRows = 700

let place: ManyCustomers
let editions: readonly string[]
let token: string

beforeEach(async () => {
  await forgetRuns()
  place = await seedEditionCustomers(dearRuns(1_200, 600))
  editions = place.editions.slice(0, 2)
  token = await tokenOfEditions(place.organization, editions)
  await build(later)
})

const asked = () => `organization_id=${place.organization}`

const dearest = async (): Promise<number> => {
  const rows = []
  for (const ordering of orderings)
    for (const page of [1, 2, 5, 12].slice(0, dearRuns(4, 3)))
      rows.push(costOf(await readAs(token, `/v1/user?${asked()}&ordering=${ordering}&page=${page}`)).rows_read)
  return Math.max(...rows)
}

const expectExact = async (): Promise<void> => {
  for (const ordering of ['email', '-date_joined'].slice(0, dearRuns(2)))
    await expectRole({ token, editions }, ordering, asked())
}

/** Chunks of an edition as the version before stores them. */
const storeAsBefore = (edition: string, isDelta: number) =>
  write(sql`insert or replace into customer_runs (edition_short_id, ordering, generation, is_delta, number, first_value,
      first_created_at, first_user_seq, spans, kinds, entries)
    select edition_short_id, ordering, generation, is_delta, number, first_value, first_created_at, first_user_seq, spans,
      kinds, entries
    from customer_runs where edition_short_id = ${shortId(edition)} and is_delta = ${isDelta}`)

it('a page of a role of several editions costs few rows, also by its number, where all of one are in another', async () => {
  expect(await dearest()).toBeLessThan(mostRows)
})

it('and where they were given the same, or other things, or nothing at all', async () => {
  const [all = '', third = ''] = editions
  await write(
    sql`delete from edition_customers where edition_short_id = ${shortId(third)}`,
    sql`insert into edition_customers (edition_short_id, user_seq, created_at, email, phone_number)
      select ${shortId(third)}, user_seq, created_at, email, phone_number from edition_customers
      where edition_short_id = ${shortId(all)}`,
  )
  await build(later)
  expect(await dearest()).toBeLessThan(mostRows)
  await expectExact()
  const gifts = ['joined', 'no email', 'email', 'no phone'] as const
  for (const [rest, set] of gifts.slice(0, dearRuns(4)).entries()) {
    await changeCustomers({ act: 'give', some: { part: 3, rest }, set, edition: 1 }, place)
    await build(later)
    expect(await dearest()).toBeLessThan(mostRows)
    await expectExact()
  }
})

it('what one edition is given moves customers to the places of others at once', async () => {
  const moves = {
    email: 'email',
    'no email': 'email',
    'no phone': 'phone_number',
    phone: 'phone_number',
    sooner: 'date_joined',
  } as const
  // They are in another edition, too, so that the role is shown what its own were given.
  await changeCustomers({ act: 'join', some: { part: 3, rest: 0 }, edition: 2 }, place)
  for (const edition of [1, 0].slice(0, dearRuns(2)))
    for (const set of ['sooner', 'no email', 'email', 'no phone', 'phone'] as const) {
      await build(later + 1)
      await changeCustomers({ act: 'give', some: { part: 40, rest: 3 * edition }, set, edition }, place)
      await expectRole({ token, editions }, moves[set], asked())
    }
})

it('runs that the version before has built are exact, and are made anew', async () => {
  const [edition = ''] = editions
  for (const isDelta of [0, 1]) {
    await changeCustomers({ act: 'change', some: { part: 40, rest: 3 }, set: 'address' }, place)
    await build(later)
    await storeAsBefore(edition, isDelta)
    expect(await dearest()).toBeGreaterThan(mostRows)
    await expectExact()
    await build(later)
    expect(await dearest()).toBeLessThan(mostRows)
    await expectExact()
  }
})

it('a walk that both versions took steps of is made anew', async () => {
  const [edition = ''] = editions
  const states = () =>
    db.all(sql<{
      generation: number
      owners_generation: number
      walked: number
    }>`select *, (select count(*) from customer_runs
        where customer_runs.edition_short_id = state.edition_short_id and generation > state.generation) as walked
      from customer_run_states as state where edition_short_id = ${shortId(edition)}`)
  const buildUntil = async (isDone: (state: Awaited<ReturnType<typeof states>>[number] | undefined) => boolean) => {
    for (let steps = 0; !isDone((await states())[0]); steps++) {
      expect(steps).toBeLessThan(1_000)
      await build(later, { ...shortSizes, stepsASweep: 4 })
    }
  }
  await write(sql`update customer_run_states set owners_generation = 0`)
  await buildUntil((state) => (state?.walked ?? 0) > 0)
  await storeAsBefore(edition, 0)
  // The first walk ends with chunks of the version before.
  await buildUntil((state) => state?.generation === 2)
  expect((await states())[0]?.owners_generation).toBe(0)
  await expectExact()
  // A sweep goes on where the one before it ended.
  for (let sweeps = 0; sweeps < 2; sweeps++) await build(later)
  const [state] = await states()
  expect(state?.owners_generation).toBe(state?.generation)
  expect(await dearest()).toBeLessThan(mostRows)
})
