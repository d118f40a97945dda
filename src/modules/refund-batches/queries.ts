import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import type { refundBatches, refundBatchTotals } from '../../db/schema/sales/refund-batches.ts'
import { visibilityOf, visible } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import type { RefundBatchStatus } from '../../domain/refunds/refund-batches.ts'

export type BatchRow = typeof refundBatches.$inferSelect
export type TotalRow = Omit<typeof refundBatchTotals.$inferSelect, 'batch_id'>

/** With the totals of its requests, as JSON of `TotalRow`s. */
export interface BatchDetailRow extends BatchRow {
  totals: string
}

export type LoadedBatch = BatchDetailRow & { tenant: Tenant; refund_policy: string }

const batchVisibility = visibilityOf(sql`refund_batches.organization_id`, sql`refund_batches.edition_id`)

const columns: SQL = sql`refund_batches.*, (select json_group_array(json_object('currency', currency,
    'status', status, 'needs_attention', needs_attention, 'requests', requests, 'amount_minor', amount_minor))
  from refund_batch_totals where batch_id = refund_batches.id) as totals`

export async function findBatch(ctx: Ctx, id: string): Promise<LoadedBatch> {
  const row = await ctx.db.first(sql<Omit<LoadedBatch, 'tenant'>>`select ${columns}, organizations.refund_policy
    from refund_batches join organizations on organizations.id = refund_batches.organization_id
    where refund_batches.id = ${id} and ${visible(ctx.caller, batchVisibility)}`)
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

export interface EditionForBatch {
  id: string
  organization_id: string
  is_archived: number
}

export async function findEdition(ctx: Ctx, id: string): Promise<EditionForBatch & { tenant: Tenant }> {
  const row = await ctx.db.first(sql<EditionForBatch>`select id, organization_id, is_archived from editions
    where id = ${id} and ${visible(ctx.caller, visibilityOf(sql`organization_id`, sql`id`))}`)
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.id] } }
}

interface BatchListQuery {
  ordering: readonly OrderBy<'created' | 'modified'>[]
  status?: RefundBatchStatus | undefined
}

export const listBatches = (
  ctx: Ctx,
  editionId: string,
  page: PageRequest,
  { ordering, status }: BatchListQuery,
): Promise<Page<BatchDetailRow>> =>
  paginate<BatchDetailRow>(ctx.db, page, {
    from: sql`refund_batches`,
    key: sql`refund_batches.id`,
    where: [sql`edition_id = ${editionId}`, ...(status ? [sql`status = ${status}`] : [])],
    sort: sortBy(ordering, '-created', {
      created: sql`refund_batches.created_at`,
      modified: sql`refund_batches.modified_at`,
    }),
    columns,
    joins: sql`join refund_batches on refund_batches.id = page.key`,
  })
