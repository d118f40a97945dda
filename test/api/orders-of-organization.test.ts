import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { rootToken } from '../support/api.ts'
import { compareNullsLast, readAs, walkAs } from '../support/lists.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { seedTrades } from '../support/seeding/sales/trades.ts'

const sizes = [7, 0, 23, 1, 12]
const fields = ['created', 'modified', 'order_number', 'status', 'type', 'amount'] as const
type Field = (typeof fields)[number]

interface Row extends Record<Field, string | number | null> {
  id: string
  seq: number
}

let organization: string
let rows: Row[]

const queryRows = async (statement: string, ...values: unknown[]): Promise<Row[]> =>
  (
    await env.DB.prepare(statement)
      .bind(...values)
      .all<Row>()
  ).results

beforeAll(async () => {
  const newOrganization = await givenOrganization()
  organization = newOrganization.id
  for (const size of sizes) {
    const edition = await seedEdition(newOrganization)
    if (size) await seedTrades({ organization, edition: edition.id }, size)
  }
  const other = await givenOrganization()
  const foreign = await seedEdition(other)
  await seedTrades({ organization: other.id, edition: foreign.id }, 9)
  // There are few values, so that many rows share each key, also across editions.
  await env.DB.prepare(
    `update orders set created_at = 1700000000000 + (seq * 7 % 4) * 1000, modified_at = 1700000000000 + (seq * 5 % 3) * 1000,
      amount_minor = (seq * 11 % 5) * 100, status = iif(seq % 3, 'completed', 'cancelled'), type = iif(seq % 4, 'online', 'imported')
      where organization_id = ?`,
  )
    .bind(organization)
    .run()
  rows = await queryRows(
    `select id, seq, created_at as created, modified_at as modified, number_key as order_number, status, type,
      amount_minor as amount from orders where organization_id = ?`,
    organization,
  )
})

/** Sorts all rows, and returns their ids in the order of the list. */
function sortIds(ordering: string, of: readonly Row[] = rows): string[] {
  const desc = ordering.startsWith('-')
  const field = ordering.replace('-', '') as Field
  const keys = [...new Set([field, 'created', 'seq'] as const)]
  return of
    .toSorted((left, right) => {
      for (const key of keys) {
        const order = compareNullsLast(desc)(left[key], right[key])
        if (order) return order
      }
      return 0
    })
    .map(({ id }) => id)
}

const address = (rest: string) => `/v1/orders?organization_id=${organization}&${rest}`
const orderings = fields.flatMap((field) => [field, `-${field}`])

describe('listOrders of an organisation', () => {
  it.each(orderings)(
    'returns the orders of all editions in the ordering %s, by cursor and by page number',
    async (ordering) => {
      const walked = await walkAs(rootToken, address(`ordering=${ordering}&page_size=4`))
      expect(walked.ids).toEqual(sortIds(ordering))
      expect(walked.count).toBe(rows.length)
      const third = await readAs(rootToken, address(`ordering=${ordering}&page_size=9&page=3`))
      expect(third.body.results.map(({ id }: Row) => id)).toEqual(sortIds(ordering).slice(18, 27))
    },
  )

  it.each([
    ['status=cancelled', ({ status }: Row) => status === 'cancelled'],
    ['type=imported&status=completed', ({ type, status }: Row) => type === 'imported' && status === 'completed'],
    ['created_after=2023-11-14T22:13:22Z', ({ created }: Row) => Number(created) >= 1_700_000_002_000],
  ])('filters by %s', async (filter, matches) => {
    const matchingRows = rows.filter((row) => matches(row))
    for (const ordering of ['-created', 'amount', '-order_number', 'status', '-type']) {
      const walked = await walkAs(rootToken, address(`${filter}&ordering=${ordering}&page_size=3`))
      expect([ordering, walked.ids]).toEqual([ordering, sortIds(ordering, matchingRows)])
      expect(walked.count).toBe(matchingRows.length)
    }
  })

  it('accepts several orderings', async () => {
    const walked = await walkAs(rootToken, address('ordering=status,-amount&page_size=5'))
    const readKeys = ({ status, amount }: Row) => [status, amount]
    const byId = new Map(rows.map((row) => [row.id, row]))
    const keys = walked.ids.map((id) => readKeys(byId.get(id) as Row))
    expect(keys).toEqual(
      keys.toSorted(([s, a], [t, b]) => (s === t ? Number(b) - Number(a) : String(s) < String(t) ? -1 : 1)),
    )
    expect(new Set(walked.ids).size).toBe(rows.length)
  })
})
