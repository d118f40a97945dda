import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { refundReasons, refundSources, refundStatuses } from '../../../src/domain/refunds/refunds.ts'
import { listIds, readAs } from '../../support/lists.ts'
import { dearRuns } from '../../support/property-runs.ts'
import { seedPlace } from '../../support/retention.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { seedAccount, seedMember, seedToken } from '../../support/seeding/members.ts'
import { db, type Place, write } from '../../support/seeding/rows.ts'
import { seedRefunds } from '../../support/seeding/sales/refunds.ts'

const begin = Date.UTC(2026, 0, 1)

const buildQuery = (filter: object): string =>
  new URLSearchParams(Object.entries(filter).filter((entry) => entry[1] !== undefined)).toString()

interface Caller {
  name: string
  token: string
  editions: readonly string[]
}

interface SeededRefunds {
  places: readonly Place[]
  foreign: Place
  callers: readonly Caller[]
  requests: string[]
}

async function seedCaller(name: string, grants: readonly Place[], editions: readonly string[]): Promise<Caller> {
  const account = await seedAccount()
  for (const { organization, edition } of grants)
    await seedMember(account, { organization, edition: edition === '' ? undefined : edition, role: 'viewer' })
  return { name, token: (await seedToken(account)).token, editions }
}

/** Seeds requests of eight editions and of another organisation over nine days, and callers who see some of them. */
async function seedCallers(): Promise<SeededRefunds> {
  const place = await seedPlace()
  const foreign = await seedPlace()
  const beside = async () => ({ ...place, edition: (await seedEdition({ id: place.organization })).id })
  const places = [place]
  while (places.length < 8) places.push(await beside())
  const all = places.map(({ edition }) => edition)
  const [first, second, third] = all as [string, string, string]
  const seeded = []
  for (const [one, many] of [
    [place, 150],
    [places[1] ?? place, 60],
    [places[2] ?? place, 45],
    ...places.slice(3).map((more) => [more, 12] as const),
    [foreign, 30],
  ] as const)
    seeded.push(...(await seedRefunds(one, many)))
  const requests = seeded.map(({ refund }) => refund)
  await write(sql`update refund_requests set created_at = ${begin} + iif(seq.key % 3, seq.key * 2300000, 86400000),
      modified_at = ${begin} + seq.key % 50 * 3600000, requested_minor = 100 + seq.key * 7 % 40
    from json_each(${JSON.stringify(requests)}) as seq where refund_requests.id = seq.value`)
  const organizationPlace = { ...place, edition: '' }
  const [, two, three] = places as [Place, Place, Place]
  return {
    places,
    foreign,
    requests,
    callers: [
      await seedCaller('all of one organisation', [organizationPlace], all),
      await seedCaller('one edition', [two], [second]),
      await seedCaller('two editions', [place, three], [first, third]),
      await seedCaller('three editions', places.slice(0, 3), [first, second, third]),
      await seedCaller('eight editions', places, all),
      await seedCaller('editions of two organisations', [two, three, foreign], [second, third, foreign.edition]),
      await seedCaller(
        'one organisation and an edition of another',
        [organizationPlace, foreign],
        [...all, foreign.edition],
      ),
    ],
  }
}

interface Request {
  id: string
  edition_id: string
  organization_id: string
  status: string
  reason: string
  source: string
  requested_minor: number
  created_at: number
  modified_at: number
}

const keysOf: Record<string, (row: Request) => (string | number)[]> = {
  created: (row) => [row.created_at],
  modified: (row) => [row.modified_at, row.created_at],
  requested_amount: (row) => [row.requested_minor, row.created_at],
  status: (row) => [row.status, row.created_at],
}

const compared = (a: readonly (string | number)[], b: readonly (string | number)[]): number => {
  const at = a.findIndex((value, index) => value !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1
}

const hour = 3_600_000
const listed = fc.record({
  status: fc.option(fc.constantFrom('pending', 'approved', 'rejected'), { nil: undefined, freq: 1 }),
  reason: fc.option(fc.constantFrom('customer_request', 'fraud'), { nil: undefined, freq: 1 }),
  source: fc.option(fc.constantFrom('api', 'customer'), { nil: undefined, freq: 1 }),
  after: fc.option(fc.nat({ max: 9 * 24 }), { nil: undefined, freq: 1 }),
  before: fc.option(fc.nat({ max: 9 * 24 }), { nil: undefined, freq: 1 }),
  ordering: fc.constantFrom(...Object.keys(keysOf).flatMap((key) => [key, `-${key}`])),
  named: fc.constantFrom(undefined, undefined, 'own' as const, 'own' as const, 'foreign' as const),
  size: fc.constantFrom(7, 30, 110),
})
type ListRequest = typeof listed extends fc.Arbitrary<infer One> ? One : never

/** Expects a list to have the given rows in their order, by page number and by `next`. */
async function expectListOf(
  { name, token, editions }: Caller,
  organization: string | undefined,
  one: ListRequest,
): Promise<void> {
  const { status, reason, source, after, before, ordering, size } = one
  const [from, until] = [after, before].map((hours) => (hours === undefined ? undefined : begin + hours * hour + 1234))
  const rows = await db.all(sql<Request>`select id, edition_id, organization_id, status, reason, source,
    requested_minor, created_at, modified_at from refund_requests`)
  const keys = keysOf[ordering.replace('-', '')] ?? expect.unreachable()
  const all = rows
    .filter(
      (row) =>
        editions.includes(row.edition_id) &&
        (organization === undefined || row.organization_id === organization) &&
        [status ?? row.status, reason ?? row.reason, source ?? row.source].join() ===
          [row.status, row.reason, row.source].join() &&
        row.created_at >= (from ?? 0) &&
        row.created_at < (until ?? Infinity),
    )
    .toSorted((a, b) => compared([...keys(a), a.id], [...keys(b), b.id]))
    .map(({ id }) => id)
  const ids = ordering.startsWith('-') ? all.toReversed() : all
  const query = buildQuery({
    status,
    reason,
    source,
    created_after: from && new Date(from).toISOString(),
    created_before: until && new Date(until).toISOString(),
    organization_id: organization,
    ordering,
    page_size: size,
  })
  const path = `/v1/refund-requests?${query}`
  const last = Math.max(1, Math.ceil(ids.length / size))
  for (const page of new Set([1, Math.ceil(last / 3), Math.ceil(last / 2), last])) {
    const reply = await readAs(token, `${path}&page=${page}`)
    expect([name, path, page, reply.status, reply.body.count]).toEqual([name, path, page, 200, ids.length])
    expect([name, path, page, listIds(reply)]).toEqual([name, path, page, ids.slice((page - 1) * size, page * size)])
    for (const { edition, organization: of } of reply.body.results)
      expect([editions.includes(edition.id), typeof of.name]).toEqual([true, 'string'])
    expect([name, path, page, reply.body.next === null]).toEqual([name, path, page, page * size >= ids.length])
    if (reply.body.next === null) continue
    const next = await readAs(token, reply.body.next)
    expect([name, path, page, listIds(next)]).toEqual([name, path, page, ids.slice(page * size, (page + 1) * size)])
  }
}

const change = fc.record({
  at: fc.nat(),
  status: fc.constantFrom(...refundStatuses),
  reason: fc.constantFrom(...refundReasons),
  source: fc.constantFrom(...refundSources),
  edition: fc.option(fc.nat({ max: 8 }), { nil: undefined, freq: 1 }),
  hours: fc.option(fc.nat({ max: 9 * 24 }), { nil: undefined, freq: 1 }),
  act: fc.constantFrom('change', 'change', 'change', 'delete'),
})

it('listRefundRequests shows callers the requests of their organizations and editions, after any change', async () => {
  const { places, foreign, callers, requests } = await seedCallers()
  const { organization } = foreign
  const [place = foreign] = places
  const editions = [...places, foreign]
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 4, maxLength: 12 }),
      fc.array(listed, { minLength: 4, maxLength: 4 }),
      async (changes, lists) => {
        for (const { at, status, reason, source, edition, hours, act } of changes) {
          const refund = requests[at % requests.length] ?? ''
          if (act === 'delete')
            await write(
              sql`delete from refund_items where refund_request_id = ${refund}`,
              sql`delete from refund_requests where id = ${refund}`,
            )
          const to = edition === undefined ? undefined : editions[edition]
          if (act === 'change')
            await write(sql`update refund_requests set status = ${status}, reason = ${reason}, source = ${source},
              created_at = coalesce(${hours === undefined ? null : begin + hours * hour}, created_at),
              edition_id = coalesce(${to?.edition ?? null}, edition_id),
              organization_id = coalesce(${to?.organization ?? null}, organization_id) where id = ${refund}`)
        }
        for (const caller of callers)
          for (const one of lists) {
            const named = one.named && { own: place.organization, foreign: organization }[one.named]
            await expectListOf(caller, named, one)
          }
      },
    ),
    { numRuns: dearRuns(6) },
  )
})
