import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { currencies, type Currency, toMajor } from '../../domain/money.ts'
import { type BatchFilter, type BatchSums, fullPercent, leftOutReasons } from '../../domain/refunds/refund-batches.ts'
import { reservedStatuses, type RefundStatus } from '../../domain/refunds/refunds.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import type { RefundBatch } from './contract.ts'
import type { BatchDetailRow, TotalRow } from './queries.ts'

type BatchWire = z.input<typeof RefundBatch>

function presentFilter(filter: BatchFilter): BatchWire['filter'] {
  const { product_id = null, variant_id = null, location_id = null, status = null, uses = null } = filter
  return {
    product_id,
    variant_id,
    location_id,
    status,
    uses,
    created_after: toIsoOrNull(filter.created_after ?? null),
    created_before: toIsoOrNull(filter.created_before ?? null),
  }
}

const presentSums = ({ orders, purchases, amounts, left_out }: BatchSums): BatchWire['requested'] => ({
  orders,
  purchases,
  amounts: currencies.toSorted().flatMap((currency) => {
    const minor = amounts[currency]
    return minor === undefined ? [] : [{ currency, amount: toMajor(minor) }]
  }),
  left_out: leftOutReasons.flatMap((reason) => {
    const count = left_out[reason] ?? 0
    return count ? [{ reason, purchases: count }] : []
  }),
})

function presentTotals(currency: Currency, totals: readonly TotalRow[]): BatchWire['requests'][number] {
  const sum = (statuses: readonly RefundStatus[], column: 'requests' | 'amount_minor') =>
    totals.reduce((total, row) => (statuses.includes(row.status) ? total + row[column] : total), 0)
  return {
    currency,
    open: sum(reservedStatuses, 'requests'),
    open_amount: toMajor(sum(reservedStatuses, 'amount_minor')),
    completed: sum(['completed'], 'requests'),
    completed_amount: toMajor(sum(['completed'], 'amount_minor')),
    failed: sum(['failed'], 'requests'),
    failed_amount: toMajor(sum(['failed'], 'amount_minor')),
    needs_attention: totals.reduce((total, row) => (row.needs_attention ? total + row.requests : total), 0),
  }
}

export function presentBatch(row: BatchDetailRow, ctx: Ctx): BatchWire {
  const byCurrency = Map.groupBy(row.totals, ({ currency }) => currency)
  return {
    id: row.id,
    status: row.status,
    organization_id: row.organization_id,
    edition_id: row.edition_id,
    filter: presentFilter(row.filter),
    amount: row.percent_hundredths === fullPercent ? 'full' : 'percent',
    percent: row.percent_hundredths === fullPercent ? null : row.percent_hundredths / 100,
    reason: row.reason,
    message: row.message,
    include_fees: row.include_fees,
    cancel_purchases: row.cancel_purchases,
    notify_customers: row.notify_customers,
    dry_run: { ...presentSums(row.dry_run), customers: row.customers_count },
    requested: presentSums(row.requested),
    requests: [...byCurrency].map(([currency, totals]) => presentTotals(currency, totals)),
    created_by: row.created_by,
    is_own: row.created_by === ctx.caller.id,
    started_by: row.started_by,
    started_at: toIsoOrNull(row.started_at),
    ended_at: toIsoOrNull(row.ended_at),
    created: toIso(row.created_at),
    modified: toIso(row.modified_at),
  }
}
