import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { insertEditionCustomers } from '../../src/db/edition-customers.ts'
import { Database } from '../../src/db/database.ts'
import { shortId, shortIds } from '../../src/db/short-ids.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { recountOrders } from '../../src/modules/orders/jobs.ts'
import { env } from 'cloudflare:workers'
import { readAs } from '../support/lists.ts'
import { seedPeople } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db, write } from '../support/seeding/rows.ts'

const dayMs = 86_400_000
let nights = 0

/** What sweeps of a night log: one each minute, until all spans have been looked at. */
async function loggedAtNight(database = db): Promise<string[]> {
  const begin = Date.UTC(2026, 5, 1, 3) + ++nights * dayMs
  const logged: string[] = []
  for (let minute = 0; minute < 30; minute++)
    await recountOrders({ db: database, now: () => begin + minute * 60_000 }).catch((error: unknown) =>
      logged.push(String(error)),
    )
  return logged
}

/** Organisations of four editions by their short ids, with customers. */
async function seedPlace(people: number) {
  const { id: organization } = await givenOrganization()
  const made = []
  for (let index = 0; index < 4; index++) made.push((await seedEdition({ id: organization })).id)
  const editions = made.toSorted((a, b) => (shortId(a) < shortId(b) ? -1 : 1))
  const users = await seedPeople(
    { organization },
    Array.from({ length: people }, () => ({})),
  )
  return { organization, editions, users }
}
type SharedPlace = Awaited<ReturnType<typeof seedPlace>>

/** A customer joins an edition, or leaves it. */
const visit = fc.record({ user: fc.nat({ max: 5 }), edition: fc.nat({ max: 3 }) })
type Visit = typeof visit extends fc.Arbitrary<infer One> ? One : never

async function perform({ editions, users }: SharedPlace, { user, edition }: Visit): Promise<void> {
  const [edition_id = '', one] = [editions[edition], users[user]]
  const isThere = sql`edition_short_id = ${shortId(edition_id)} and user_seq = ${one?.seq}`
  const known = await db.all(sql`select 1 from edition_customers where ${isThere}`)
  if (known.length > 0) await write(sql`delete from edition_customers where ${isThere}`)
  else await write(...insertEditionCustomers([{ edition_id, user_id: one?.id ?? '', created_at: 86_400_000 * user }]))
}

interface SharedRow {
  editions: string
  customers: number
}

const storedOf = (organization: string) =>
  db.all(sql<SharedRow>`select editions, customers from shared_customers where organization_short_id = ${shortId(organization)}
    order by editions`)

/** The same, counted one customer after the other. */
async function countedOf({ users }: SharedPlace): Promise<SharedRow[]> {
  const counts = new Map<string, number>()
  for (const { seq } of users) {
    const rows = await db.all(
      sql<{ id: string }>`select edition_short_id as id from edition_customers where user_seq = ${seq}`,
    )
    const set = rows
      .map(({ id }) => `,${id}`)
      .toSorted()
      .join('')
    if (rows.length > 1) counts.set(set, (counts.get(set) ?? 0) + 1)
  }
  return [...counts]
    .map(([editions, customers]) => ({ editions, customers }))
    .toSorted((a, b) => (a.editions < b.editions ? -1 : 1))
}

/** Of each customer: the only edition that the row names, where it differs from the only one that has them. */
const namedOtherwise = ({ organization }: SharedPlace) =>
  db.all(sql`select seq, only_edition_short_id as named, only from (
      select seq, only_edition_short_id, (select iif(count(*) = 1, min(edition_short_id), null) from edition_customers
        where user_seq = users.seq) as only from users where organization_id = ${organization})
    where only_edition_short_id is not only`)

async function tokenOf({ organization, editions }: SharedPlace): Promise<string> {
  const account = await seedAccount()
  for (const edition of editions.slice(0, 3)) await seedMember(account, { organization, edition, role: 'viewer' })
  return (await seedToken(account)).token
}

/** What is done behind the triggers, to the counts of some editions. */
const damage = fc.record({
  act: fc.constantFrom('delete', 'raise', 'add', 'strange'),
  editions: fc.subarray([0, 1, 2, 3], { minLength: 2 }),
})
type Damage = typeof damage extends fc.Arbitrary<infer One> ? One : never

async function spoil({ organization, editions }: SharedPlace, { act, editions: some }: Damage): Promise<void> {
  const chosen = shortIds(some.map((index) => editions[index] ?? ''))
  // No edition has the first one, which stands before, between or behind the others.
  const strange = [`${'0-Z'[some.length % 3]}0000000`, ...chosen].toSorted()
  const set = (act === 'strange' ? strange : chosen).map((id) => `,${id}`).join('')
  const isSet = sql`organization_short_id = ${shortId(organization)} and editions = ${set}`
  if (act === 'delete') return write(sql`delete from shared_customers where ${isSet}`)
  if (act === 'raise') return write(sql`update shared_customers set customers = customers + 2 where ${isSet}`)
  return write(sql`insert into shared_customers (organization_short_id, editions, customers) values (${shortId(organization)}, ${set}, 3)
    on conflict (organization_short_id, editions) do update set customers = customers + 3`)
}

it('customers of several editions are counted anew at night, and what differs is repaired and named', async () => {
  const [place, other] = [await seedPlace(6), await seedPlace(6)]
  const token = await tokenOf(place)
  await fc.assert(
    fc.asyncProperty(
      fc.array(visit, { minLength: 6, maxLength: 24 }),
      fc.array(damage, { minLength: 1, maxLength: 3 }),
      async (visits, damages) => {
        for (const one of visits) {
          await perform(place, one)
          await perform(other, one)
        }
        // Triggers leave nothing to repair.
        expect(await loggedAtNight()).toEqual([])
        const [counted, ofOther] = [await countedOf(place), await countedOf(other)]
        expect([await storedOf(place.organization), await storedOf(other.organization)]).toEqual([counted, ofOther])
        expect([await namedOtherwise(place), await namedOtherwise(other)]).toEqual([[], []])
        for (const one of damages) await spoil(place, one)
        const isSpoilt = JSON.stringify(await storedOf(place.organization)) !== JSON.stringify(counted)
        const logged = await loggedAtNight()
        expect(logged.length > 0).toBe(isSpoilt)
        for (const line of logged) {
          expect(line).toMatch(/^Error: Counts of orders were wrong and are repaired: edt_/)
          expect(other.editions.filter((id) => line.includes(id))).toEqual([])
        }
        expect([await storedOf(place.organization), await storedOf(other.organization)]).toEqual([counted, ofOther])
        expect(await loggedAtNight()).toEqual([])
        // A role of three of the editions has each of their customers once.
        const mine = shortIds(place.editions.slice(0, 3))
        const reply = await readAs(token, '/v1/user')
        const among = await db.first(
          sql<{ n: number }>`select count(distinct user_seq) as n from edition_customers where edition_short_id in
            (select value from json_each(${JSON.stringify(mine)}))`,
        )
        expect(reply).toMatchObject({ status: 200, body: { count: among?.n } })
      },
    ),
    { numRuns: 10, endOnFailure: true },
  )
})

it('customers who join while counts are repaired are counted', async () => {
  const place = await seedPlace(6)
  for (const user of [0, 1, 2]) for (const edition of [0, 1]) await perform(place, { user, edition })
  await write(
    sql`update shared_customers set customers = 9 where organization_short_id = ${shortId(place.organization)}`,
  )
  const changing = new Database(env.DB, newMeter())
  const batch = changing.batch.bind(changing)
  let user = 2
  // Before each transaction of the sweep, and behind it.
  changing.batch = async (statements) => {
    if (user < 5) for (const edition of [0, 1, 2]) await perform(place, { user: user + (edition < 2 ? 1 : 0), edition })
    user++
    const answer = await batch(statements)
    if (user < 5) await perform(place, { user, edition: 3 })
    return answer
  }
  expect(await loggedAtNight(changing)).toHaveLength(1)
  expect(user).toBeGreaterThan(4)
  expect(await storedOf(place.organization)).toEqual(await countedOf(place))
  expect(await loggedAtNight()).toEqual([])
})

it('customers of an edition without orders are counted where no span is there', async () => {
  const place = await seedPlace(3)
  const [edition = ''] = place.editions
  for (const user of [0, 1, 2]) await perform(place, { user, edition: 0 })
  const countOf = () =>
    db.first(
      sql<{ n: number }>`select sum(customers) as n from order_counts where span_bits = 33 and edition_id = ${edition}`,
    )
  expect(await countOf()).toEqual({ n: 3 })
  await write(sql`delete from order_counts where edition_id = ${edition}`)
  expect(await loggedAtNight()).toEqual([expect.stringContaining(edition)])
  expect(await countOf()).toEqual({ n: 3 })
  expect(await loggedAtNight()).toEqual([])
})

it('customers who name no only edition, or another one, are named anew at night', async () => {
  const [place, other] = [await seedPlace(6), await seedPlace(6)]
  for (const one of [place, other])
    for (const [user, editions] of [[0], [1], [2], [0, 1], [1, 2, 3], []].entries())
      for (const edition of editions) await perform(one, { user, edition })
  expect(await loggedAtNight()).toEqual([])
  const names = ['null', ...place.editions.map((id) => `'${shortId(id)}'`)]
  for (const name of names) {
    const isPlace = sql`organization_id = ${place.organization}`
    const isInSome = sql`seq in (select user_seq from edition_customers)`
    await write(sql`update users set only_edition_short_id = ${sql.raw(name)} where ${isPlace} and ${isInSome}`)
    expect(await namedOtherwise(place)).not.toEqual([])
    const logged = await loggedAtNight()
    expect(logged.length).toBeGreaterThan(0)
    expect(other.editions.filter((id) => logged.some((line) => line.includes(id)))).toEqual([])
    expect([await namedOtherwise(place), await namedOtherwise(other)]).toEqual([[], []])
    expect(await loggedAtNight()).toEqual([])
  }
})
