import { type SQL, sql } from 'drizzle-orm'
import type { KeyValues } from '../../../db/lists/order-keys.ts'
import type { OrderKinds } from '../../../db/order-kinds.ts'
import { orders } from '../../../db/schema/sales/orders.ts'
import type { OrderStatus, OrderType } from '../../../domain/orders/orders.ts'
import { compareKeys } from '../../../domain/text/compare-keys.ts'
import { countColumns } from '../counts/spans.ts'
import { type Entry, goneKind } from './entries.ts'

/** An order of lists that has runs. */
export interface RunOrdering {
  name: 'amount' | 'modified' | 'number'
  index: SQL
  value: SQL
  isText: boolean
  /** A value before all others. */
  least: number | string
  where: SQL
}

const number = sql`${orders.number_key}`

export const runOrderings: readonly RunOrdering[] = [
  {
    name: 'amount',
    index: sql`orders_edition_amount`,
    value: sql`${orders.amount_minor}`,
    isText: false,
    least: 0,
    where: sql`1`,
  },
  {
    name: 'modified',
    index: sql`orders_edition_modified`,
    value: sql`${orders.modified_at}`,
    isText: false,
    least: 0,
    where: sql`1`,
  },
  {
    name: 'number',
    index: sql`orders_edition_number`,
    value: number,
    isText: true,
    least: '',
    where: sql`${number} is not null`,
  },
]

/** The key of an order in a run: value, moment of creation, number of the row. */
export const keyOfEntry = ({ value, created_at, seq }: Entry): KeyValues => [value, created_at, seq]

const [up, down] = [false, true].map((desc) => [{ desc }, { desc }, { desc }] as const)

/** Compares two keys in a direction of the order. */
export const compareInOrder = (a: KeyValues, b: KeyValues, isDesc: boolean): number =>
  compareKeys(a, b, (isDesc ? down : up) ?? [])

export const kindOf = ({ status, type }: { status: OrderStatus; type: OrderType }): number =>
  countColumns.findIndex((one) => one.status === status && one.type === type)

/** Says of each kind whether it is asked for. */
export function wantedKinds({ status, type }: OrderKinds): readonly boolean[] {
  const wanted = countColumns.map((one) => (!status || one.status === status) && (!type || one.type === type))
  wanted[goneKind] = false
  return wanted
}

/** Spans of time by which a chunk says when its orders were created, as bits of a moment. */
const spanMs = 2 ** 31
export const spanOf = (moment: number): number => Math.floor(moment / spanMs)

/** The share of a span that is within a range of time. */
export const shareWithin = (span: number, from: number, until: number): number =>
  Math.max(0, Math.min(until, (span + 1) * spanMs) - Math.max(from, span * spanMs)) / spanMs
