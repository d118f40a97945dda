import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { refundBatches } from '../../db/schema/sales/refund-batches.ts'
import { insert } from '../../db/write.ts'
import { AppError, editionArchived, fieldError, invalid } from '../../domain/errors.ts'
import { type BatchFilter, emptySums, fullShare, refundBatchLifecycle } from '../../domain/refunds/refund-batches.ts'
import { openEditions } from '../editions/index.ts'
import { sourceOf } from '../refunds/index.ts'
import type { CreateBatchInput } from './contract.ts'
import { addCustomers, countNext } from './count.ts'
import { enqueueBatches } from './enqueue.ts'
import type { BatchDetailRow, BatchRow, EditionForBatch } from './queries.ts'

/** A request counts so many orders itself; more are counted in the background. */
const ordersAtOnce = 100

function shareOf({ amount, percent }: CreateBatchInput): number {
  if (amount === 'full') {
    if (percent === undefined) return fullShare
    throw invalid(fieldError(['percent'], 'not_both', 'Only with an amount of percent.'))
  }
  if (percent === undefined) throw invalid(fieldError(['percent'], 'required', 'How much of it.'))
  return percent
}

/** Throws unless the product, variant and location of the filter are of the edition. */
async function checkFilter(ctx: Ctx, editionId: string, filter: BatchFilter): Promise<void> {
  const { product_id = null, variant_id = null, location_id = null } = filter
  if (product_id === null && variant_id === null && location_id === null) return
  const found = await ctx.db.first(sql<Record<'product_id' | 'variant_id' | 'location_id', number>>`select
    exists (select 1 from products where id = ${product_id} and edition_id = ${editionId}) as product_id,
    exists (select 1 from variants join products on products.id = variants.product_id
      where variants.id = ${variant_id} and products.edition_id = ${editionId}) as variant_id,
    exists (select 1 from locations where id = ${location_id} and edition_id = ${editionId}) as location_id`)
  const missing = (['product_id', 'variant_id', 'location_id'] as const).filter(
    (name) => filter[name] !== undefined && found?.[name] !== 1,
  )
  if (missing.length === 0) return
  throw invalid(...missing.map((name) => fieldError(['filter', name], 'does_not_exist', 'Object does not exist.')))
}

function rowOf(ctx: Ctx, edition: EditionForBatch, input: CreateBatchInput): BatchRow {
  const now = ctx.now()
  return {
    id: ctx.newId('refund_batch'),
    organization_id: edition.organization_id,
    edition_id: edition.id,
    status: refundBatchLifecycle.initial,
    filter: input.filter,
    share: shareOf(input),
    include_fees: input.include_fees ?? false,
    cancel_purchases: input.cancel_purchases ?? false,
    notify_customers: input.notify_customers ?? true,
    reason: input.reason,
    message: input.message ?? '',
    counted: emptySums(),
    customers_count: 0,
    requested: emptySums(),
    cursor_created_at: null,
    cursor_seq: null,
    due_at: null,
    lease_until: null,
    source: sourceOf(ctx.caller),
    created_by: ctx.caller.id,
    started_by: null,
    started_at: null,
    ended_at: null,
    version: 1,
    created_at: now,
    modified_at: now,
  }
}

/** Makes a batch and counts its orders; a large edition is counted further in the background. */
export async function createBatch(
  ctx: Ctx,
  edition: EditionForBatch,
  input: CreateBatchInput,
): Promise<BatchDetailRow> {
  if (edition.is_archived) throw editionArchived()
  const row = rowOf(ctx, edition, input)
  await checkFilter(ctx, edition.id, input.filter)
  const { changes, customers } = await countNext(ctx, row, ordersAtOnce)
  const isCounting = changes.status === 'counting'
  const batch = { ...row, ...changes, customers_count: customers.length, due_at: isCounting ? row.created_at : null }
  const created = await commit(ctx, { ...batch, totals: [] }, [
    ...openEditions(edition.id),
    insert(refundBatches, batch),
    // The rest of the dry run does not count these again.
    ...(isCounting ? [addCustomers(batch.id, customers)] : []),
  ])
  if (isCounting) ctx.afterCommit(() => enqueueBatches(ctx, [batch.id]))
  return created
}

export const wrongStatus = ({ status }: BatchRow, what: string): AppError =>
  new AppError('invalid_transition', `Refund batch in status '${status}' cannot be ${what}.`, {
    extra: { current_status: status, allowed_transitions: refundBatchLifecycle.targetsOf(status) },
  })
