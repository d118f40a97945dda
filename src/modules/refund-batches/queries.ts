import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { refundBatches, type refundBatchTotals } from '../../db/schema/refunds.ts'
import { fromJson, type RowOf, select } from '../../db/select.ts'
import { editionVisibility, buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { selectWork, type WorkCount } from '../../db/work-counts.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'

export type BatchRow = typeof refundBatches.$inferSelect
export type TotalRow = Omit<typeof refundBatchTotals.$inferSelect, 'batch_id'>

const batchColumns = getTableColumns(refundBatches)

export const batchFields = {
  ...batchColumns,
  totals: fromJson<TotalRow[]>(sql`(select json_group_array(json_object('currency', currency, 'status', status,
      'needs_attention', json(iif(needs_attention, 'true', 'false')), 'requests', requests,
      'amount_minor', amount_minor))
    from refund_batch_totals where batch_id = ${refundBatches.id})`),
}

export type BatchDetailRow = RowOf<typeof batchFields>
export type LoadedBatch = BatchDetailRow & {
  tenant: Tenant
  refund_policy: (typeof organizations.$inferSelect)['refund_policy']
}

const batchVisibility = buildVisibility(sql`${refundBatches.organization_id}`, sql`${refundBatches.edition_id}`)

export async function findBatch(ctx: Ctx, id: string): Promise<LoadedBatch> {
  const row = await ctx.db.first(
    select({ ...batchFields, refund_policy: organizations.refund_policy })
      .from(refundBatches)
      .innerJoin(organizations, eq(organizations.id, refundBatches.organization_id))
      .where(and(eq(refundBatches.id, id), isVisibleTo(ctx.caller, batchVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

/** Loads the current row of a batch for its job. */
export const loadBatch = ({ db }: Pick<JobCtx, 'db'>, id: string): Promise<BatchRow | undefined> =>
  db.first(select(batchColumns).from(refundBatches).where(eq(refundBatches.id, id)))

const editionFields = {
  id: editions.id,
  organization_id: editions.organization_id,
  is_archived: editions.is_archived,
}

export type EditionForBatch = RowOf<typeof editionFields> & { tenant: Tenant }

export async function findEditionForBatch(ctx: Ctx, id: string): Promise<EditionForBatch> {
  const row = await ctx.db.first(
    select(editionFields)
      .from(editions)
      .where(and(eq(editions.id, id), isVisibleTo(ctx.caller, editionVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.id] } }
}

export const selectBatchWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'refund_batches',
    from: sql`refund_batches indexed by refund_batches_due`,
    where: sql`due_at is not null`,
    dueAt: sql`due_at`,
  })
