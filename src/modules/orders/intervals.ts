import { type SQL, sql } from 'drizzle-orm'
import type { IntervalList, IntervalOrdering } from '../../db/lists/intervals/interval-list.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { countColumns } from './counts/spans.ts'
import { rangesOfKinds } from './orderings.ts'

const ofAll = (name: string, index: SQL, value: SQL): IntervalOrdering => ({
  name,
  index,
  ranges: rangesOfKinds,
  value,
  least: -1,
  where: sql`1`,
})
const number = sql`${orders.number_key}`
const numbers = { index: sql`orders_edition_number`, ranges: rangesOfKinds }

export const intervalOrderings = {
  amount: ofAll('amount', sql`orders_edition_amount`, sql`${orders.amount_minor}`),
  modified: ofAll('modified', sql`orders_edition_modified`, sql`${orders.modified_at}`),
  number: { ...numbers, name: 'number', value: number, least: '', where: sql`${number} is not null` },
  unnumbered: { ...numbers, name: 'unnumbered', value: null, least: -1, where: sql`${number} is null` },
} satisfies Record<string, IntervalOrdering>

/** The editions of a scope, which is an edition or an organisation. */
const editionsOf = (scope: string): SQL =>
  sql`select editions.id, editions.short_id as key
    from (select id from editions where id = ${scope} union all select id from editions where organization_id = ${scope}) as one
      cross join editions on editions.id = one.id`

/** Orders of editions and organisations, by status and type. They are settled by their last change. */
export const orderIntervals: IntervalList = {
  name: 'orders',
  table: sql`${orders}`,
  intervals: sql`order_intervals`,
  orderings: intervalOrderings,
  keys: [
    { name: 'created_at', column: sql`${orders.created_at}`, least: -(2 ** 53) },
    { name: 'seq', column: sql`${orders.seq}`, least: 0 },
  ],
  partsOf: editionsOf,
  part: sql`${orders}.edition_short_id`,
  settled: { index: sql`orders_edition_modified`, ranges: rangesOfKinds, at: sql`${orders.modified_at}` },
  facets: [sql`${orders.status}`, sql`${orders.type}`],
  counts: countColumns.map(({ name, status, type }) => ({ name, facets: [status, type] })),
}
