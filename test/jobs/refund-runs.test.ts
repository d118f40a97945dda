import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runSizes } from '../../src/db/lists/runs/run-sizes.ts'
import { buildRefundRuns } from '../../src/modules/refunds/jobs.ts'
import { rootToken } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { databaseEndingAfter } from '../support/intervals.ts'
import { queryOf } from '../support/list-spans.ts'
import { readAs } from '../support/lists.ts'
import { change, changeRefunds } from '../support/refund-changes.ts'
import {
  type LongRefunds,
  manyFrom,
  seedLongRefunds,
  type StoredRefund,
  storedRefunds,
} from '../support/refund-intervals.ts'
import { expectRefundWalk, type RefundFilter } from '../support/refund-runs.ts'
import { requestsOf } from '../support/refunds.ts'
import { givenMember, seedAccount, seedMember, seedToken } from '../support/seeding/members.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'
import { db, write } from '../support/seeding/rows.ts'

/** Short chunks, so that few requests have many. */
const shortSizes = {
  fewestRows: 0,
  rows: 40,
  fewestDue: 2,
  fewestInDelta: 10,
  mostInDelta: 150,
  stepsASweep: 10_000,
}
/** When all requests are settled. */
const later = manyFrom + 700 * 86_400_000
const build = (now: number, sizes = shortSizes) => buildRefundRuns({ db, now: () => now }, sizes)
/** Between the creation of two requests. */
const apart = 21_600_000
const day = (days: number, ms = 0) => new Date(manyFrom + days * 86_400_000 + ms).toISOString()

const orderings = ['modified', 'requested_amount', 'status', 'created'].flatMap((field) => [field, `-${field}`])
const filters: RefundFilter[] = [
  { reason: 'fraud' },
  { source: 'api' },
  { reason: 'other', source: 'customer' },
  { reason: 'customer_request', status: 'rejected' },
  { source: 'customer', status: 'cancelled' },
  { reason: 'duplicate' },
  { created_after: day(40) },
  { created_before: day(60) },
  { created_after: day(30, 1), created_before: day(120, 7_654_321), status: 'rejected' },
  { created_after: day(90), reason: 'other' },
  { created_after: day(1000) },
  {},
]

const forgetRuns = () =>
  write(
    ...['list_sizes', 'refund_runs', 'refund_run_states', 'late_refund_requests', 'storage_sweeps'].map(
      (name) => sql`delete from ${sql.raw(name)}`,
    ),
  )

const generations = async (): Promise<number[]> =>
  (await db.all(sql<{ generation: number }>`select generation from refund_run_states order by generation`)).map(
    ({ generation }) => generation,
  )

/** A token of who has a role in each of these editions. */
async function tokenOf(organization: string, editions: readonly string[]): Promise<string> {
  const account = await seedAccount()
  for (const edition of editions) await seedMember(account, { organization, edition, role: 'viewer' })
  return (await seedToken(account)).token
}

const ofEdition = (requests: readonly StoredRefund[], edition: string) =>
  requests.filter((one) => one.edition_id === edition)

describe('a list of refund requests that runs serve', () => {
  let requests: StoredRefund[]
  let place: LongRefunds
  beforeAll(async () => {
    await forgetRuns()
    place = await seedLongRefunds([1_200, 300, 60], apart)
    await seedLongRefunds([200], apart)
    await build(later)
    requests = await storedRefunds(place.organization)
  })

  it.each(orderings)('has each request once, in the order %s', async (ordering) => {
    const [edition_id = ''] = place.editions
    const own = ofEdition(requests, edition_id)
    const scope = { organization_id: place.organization }
    const turn = orderings.indexOf(ordering)
    for (const [index, filter] of filters.filter((_, at) => (at + turn) % 2).entries())
      if ((index + (turn >> 1)) % 2)
        await expectRefundWalk({ scope: { edition_id }, filter, ordering }, { requests: own, size: 100 })
      else await expectRefundWalk({ scope, filter, ordering }, { requests, size: 100 })
  })

  it('shows the editions that a caller sees, and nobody else theirs', async () => {
    const [edition = ''] = place.editions
    const { token } = await givenMember({ id: place.organization }, 'manager', edition)
    const own = ofEdition(requests, edition)
    for (const ordering of ['requested_amount', '-modified', 'status'])
      for (const scope of [{ organization_id: place.organization }, {}] as Record<string, string>[])
        await expectRefundWalk({ scope, filter: { source: 'customer' }, ordering }, { requests: own, size: 100, token })
  })

  it('shows those of several editions of a caller, in orders that nothing else leads through, too', async () => {
    const some = place.editions.slice(0, 2)
    const token = await tokenOf(place.organization, some)
    const own = requests.filter(({ edition_id }) => some.includes(edition_id))
    for (const ordering of ['requested_amount', '-modified', 'status', '-created'].slice(0, dearRuns(4, 2)))
      for (const filter of [{}, { status: 'rejected' }, { source: 'customer' }, { created_after: day(40) }])
        await expectRefundWalk({ scope: {}, filter, ordering }, { requests: own, size: 100, token })
  })

  it('costs few rows wherever its requests stand', async () => {
    const dear: [string, number][] = []
    for (const ordering of orderings)
      for (const filter of filters) {
        const query = queryOf({ edition_id: place.editions[0], ordering, page_size: 20, ...filter })
        const reply = await readAs(rootToken, `/v1/refund-requests?${query}`)
        expect(reply.status).toBe(200)
        // Of 30 chunks of 40 requests most have some.
        if (costOf(reply).rows_read > 420) dear.push([query, costOf(reply).rows_read])
      }
    expect(dear).toEqual([])
  })
})

const list = fc.record({
  ordering: fc.constantFrom(...orderings),
  filter: fc.constantFrom(...filters),
  of: fc.constantFrom('edition', 'editions', 'organization'),
})

it('pages of refund requests by runs are exact through every change', async () => {
  let served = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 5, maxLength: 10 }),
      fc.tuple(list, list),
      async (changes, lists) => {
        await forgetRuns()
        const place = await seedLongRefunds([600, 200, 40], apart)
        let now = later
        await build(now)
        for (const [index, one] of changes.entries()) {
          if (one.act === 'wait') now += one.ms
          if (one.act === 'settle') await build(now, { ...shortSizes, stepsASweep: one.steps })
          await changeRefunds(one, place, now)
          const requests = await storedRefunds(place.organization)
          const [edition_id = ''] = place.editions
          const { ordering, filter, of } = lists[index % 2 ? 0 : 1]
          const scope: Record<string, string> =
            of === 'edition' ? { edition_id } : { organization_id: place.organization }
          const seen = of === 'organization' ? place.editions : place.editions.slice(0, of === 'edition' ? 1 : 2)
          const listed = requests.filter(({ edition_id: edition }) => seen.includes(edition))
          const token = of === 'editions' ? await tokenOf(place.organization, seen) : undefined
          await expectRefundWalk({ scope, filter, ordering }, { requests: listed, size: 100, token })
        }
        served = Math.max(served, ...(await generations()))
        await write(
          sql`delete from refund_items where refund_request_id = ${place.first}`,
          sql`delete from refund_requests where organization_id = ${place.organization}`,
        )
      },
    ),
    { numRuns: dearRuns(3) },
  )
  expect(served).toBeGreaterThan(0)
})

describe('the sweep of runs of refund requests', () => {
  beforeEach(forgetRuns)

  it('leaves exact pages wherever it ends, and goes on', async () => {
    const { organization, first } = await seedLongRefunds([400, 60], apart)
    const scope = { organization_id: organization }
    let now = later
    for (let steps = 0; steps < 20; steps++) {
      await buildRefundRuns({ db: databaseEndingAfter((steps * 3) % 47), now: () => now }, shortSizes).catch(() => null)
      now += 200_000
      await write(sql`update refund_requests set requested_minor = requested_minor * 7 % 50000, modified_at = ${now - 150_000}
        where organization_id = ${organization} and unicode(substr(id, -1)) % 10 = ${steps % 10} and id <> ${first}`)
      const requests = await storedRefunds(organization)
      const ordering = steps % 2 ? 'requested_amount' : '-modified'
      await expectRefundWalk({ scope, filter: { source: 'api' }, ordering }, { requests, size: 100 })
    }
    expect(Math.max(...(await generations()))).toBeGreaterThan(1)
  })

  it('forgets requests that were deleted while they were young', async () => {
    const { organization, first } = await seedLongRefunds([400], apart)
    await build(later)
    const these = sql`where organization_id = ${organization} and unicode(substr(id, -1)) % 3 = 0 and id <> ${first}`
    await write(
      sql`update refund_requests set modified_at = ${later} ${these}`,
      sql`delete from refund_requests ${these}`,
    )
    const requests = await storedRefunds(organization)
    const scope = { organization_id: organization }
    for (const ordering of ['requested_amount', '-status'])
      await expectRefundWalk({ scope, filter: { source: 'api' }, ordering }, { requests, size: 100 })
  })

  it('leaves out organisations with few requests', async () => {
    await seedLongRefunds([300], apart)
    await write(sql`update list_sizes set all_orders = 400`)
    await build(later, { ...shortSizes, fewestRows: 302 })
    expect(await generations()).toEqual([])
    await build(later, { ...shortSizes, fewestRows: 301 })
    expect(await generations()).toEqual([1])
  })
})

it('a new refund request writes nothing for runs, and one that changes later at most a note', async () => {
  const shop = await seedShop()
  const { asked, rejected } = requestsOf(shop)
  for (let before = 0; before < 3; before++) await asked()
  const before = [await asked(), await rejected(0)]
  await build(Date.now() + 150_000, { ...runSizes, fewestRows: 0 })
  expect(await generations()).toContain(1)
  expect([await asked(), await rejected(1)]).toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 1])
  await write(sql`update refund_run_states set noted_until = 0`)
  expect([await asked(), await rejected(2)]).toEqual(before)
})
