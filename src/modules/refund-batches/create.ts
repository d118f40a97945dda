import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { refundBatches } from '../../db/schema/refunds.ts'
import { insert } from '../../db/write.ts'
import { editionArchived, fieldError, invalid } from '../../domain/errors.ts'
import {
  type BatchFilter,
  buildEmptySums,
  fullPercent,
  refundBatchLifecycle,
} from '../../domain/refunds/refund-batches.ts'
import { openEditions } from '../editions/index.ts'
import { getRefundSource } from '../refunds/index.ts'
import type { CreateBatchInput } from './contract.ts'
import { countNextOrders, insertCustomers } from './count.ts'
import { enqueueBatches } from './enqueue.ts'
import type { BatchDetailRow, BatchRow, EditionForBatch } from './queries.ts'

/** The operation counts this many orders itself. A job counts the rest. */
const ordersInRequest = 100

function readPercent({ amount, percent }: CreateBatchInput): number {
  if (amount === 'full') {
    if (percent === undefined) return fullPercent
    throw invalid(fieldError(['percent'], 'not_both', '`percent` is only allowed with `amount: percent`.'))
  }
  if (percent === undefined) throw invalid(fieldError(['percent'], 'required', '`amount: percent` needs a percentage.'))
  return percent
}

/** Throws unless the product, variant and location of the filter belong to the edition. */
async function checkFilter(ctx: Ctx, editionId: string, filter: BatchFilter): Promise<void> {
  const { product_id = null, variant_id = null, location_id = null } = filter
  if (product_id === null && variant_id === null && location_id === null) return
  const existence = await ctx.db.first(sql<Record<'product_id' | 'variant_id' | 'location_id', number>>`select
    exists (select 1 from products where id = ${product_id} and edition_id = ${editionId}) as product_id,
    exists (select 1 from variants join products on products.id = variants.product_id
      where variants.id = ${variant_id} and products.edition_id = ${editionId}) as variant_id,
    exists (select 1 from locations where id = ${location_id} and edition_id = ${editionId}) as location_id`)
  const missingReferences = (['product_id', 'variant_id', 'location_id'] as const).filter(
    (name) => filter[name] !== undefined && existence?.[name] !== 1,
  )
  if (missingReferences.length === 0) return
  throw invalid(
    ...missingReferences.map((name) => fieldError(['filter', name], 'does_not_exist', 'Object does not exist.')),
  )
}

function buildRow(ctx: Ctx, edition: EditionForBatch, input: CreateBatchInput): BatchRow {
  const now = ctx.now()
  return {
    id: ctx.newId('refund_batch'),
    organization_id: edition.organization_id,
    edition_id: edition.id,
    status: refundBatchLifecycle.initial,
    filter: input.filter,
    percent_hundredths: readPercent(input),
    include_fees: input.include_fees ?? false,
    cancel_purchases: input.cancel_purchases ?? false,
    notify_customers: input.notify_customers ?? true,
    reason: input.reason,
    message: input.message ?? '',
    dry_run: buildEmptySums(),
    customers_count: 0,
    requested: buildEmptySums(),
    cursor_created_at: null,
    cursor_seq: null,
    due_at: null,
    claimed_until: null,
    source: getRefundSource(ctx.caller),
    created_by: ctx.caller.id,
    started_by: null,
    is_started_by_organization: false,
    started_at: null,
    ended_at: null,
    version: 1,
    created_at: now,
    modified_at: now,
  }
}

/** Creates a batch and begins its dry run. For a large edition, a job counts the rest. */
export async function createRefundBatch(
  ctx: Ctx,
  edition: EditionForBatch,
  input: CreateBatchInput,
): Promise<BatchDetailRow> {
  if (edition.is_archived) throw editionArchived()
  const row = buildRow(ctx, edition, input)
  await checkFilter(ctx, edition.id, input.filter)
  const { changes, customers } = await countNextOrders(ctx, row, ordersInRequest)
  const isCounting = changes.status === 'counting'
  const batch = { ...row, ...changes, customers_count: customers.length, due_at: isCounting ? row.created_at : null }
  const createdBatch = await commit(ctx, { ...batch, totals: [] }, [
    ...openEditions(edition.id),
    insert(refundBatches, batch),
    // The job must not count these customers again.
    ...(isCounting ? [insertCustomers(batch.id, customers)] : []),
  ])
  if (isCounting) ctx.afterCommit(() => enqueueBatches(ctx, [batch.id]))
  return createdBatch
}
