import type { z } from '@hono/zod-openapi'
import { toMajor } from '../../../domain/money.ts'
import type { EditionStats } from './stats-contract.ts'
import type { LoadedStats, StatsRow } from './stats.ts'

type Stats = z.input<typeof EditionStats>
type Group<Name extends 'orders' | 'purchases' | 'uses' | 'refunds'> = Stats[Name][number]

const presentProduct = ({ product_id, product_name }: StatsRow) =>
  product_id === null ? null : { api_id: product_id, name: product_name ?? '' }

const presentOrders = (row: StatsRow): Group<'orders'> => ({
  date: row.day,
  status: row.status as Group<'orders'>['status'],
  currency: row.currency as Group<'orders'>['currency'],
  count: row.items,
  amount: toMajor(row.amount_minor),
})

const presentPurchases = (row: StatsRow): Group<'purchases'> => ({
  date: row.day,
  product: presentProduct(row),
  status: row.status as Group<'purchases'>['status'],
  currency: row.currency as Group<'purchases'>['currency'],
  count: row.items,
  price_paid: toMajor(row.amount_minor),
  deposit_paid: toMajor(row.deposit_minor),
  handling_fee_paid: toMajor(row.handling_fee_minor),
})

const presentUses = (row: StatsRow): Group<'uses'> => ({
  date: row.day,
  product: presentProduct(row),
  count: row.items,
})

const presentRefunds = (row: StatsRow): Group<'refunds'> => ({
  date: row.day,
  status: row.status as Group<'refunds'>['status'],
  currency: row.currency as Group<'refunds'>['currency'],
  count: row.items,
  requested_amount: toMajor(row.amount_minor),
  refunded_amount: toMajor(row.refunded_minor),
})

export function presentEditionStats({ edition, from, to, rows }: LoadedStats): Stats {
  const ofKind = (kind: StatsRow['kind']) => rows.filter((row) => row.kind === kind)
  return {
    edition_id: edition.id,
    timezone: edition.timezone,
    from,
    to,
    orders: ofKind('order').map(presentOrders),
    purchases: ofKind('purchase').map(presentPurchases),
    uses: ofKind('use').map(presentUses),
    refunds: ofKind('refund').map(presentRefunds),
  }
}
