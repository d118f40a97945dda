import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { refundBatches } from '../../db/schema/refunds.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { BatchQuery } from './contract.ts'
import { type BatchDetailRow, batchFields, type EditionForBatch } from './queries.ts'

const filters: FilterTable<BatchQuery> = { status: equals(refundBatches.status) }

const sortColumns = { created: sql`${refundBatches.created_at}`, modified: sql`${refundBatches.modified_at}` }

export const listRefundBatches = (
  ctx: Ctx,
  page: PageRequest,
  query: BatchQuery,
  edition: EditionForBatch,
): Promise<Page<BatchDetailRow>> =>
  paginate(ctx.db, page, {
    from: sql`${refundBatches}`,
    where: [eq(refundBatches.edition_id, edition.id), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${refundBatches.id}`,
    columns: batchFields,
    joins: sql`join ${refundBatches} on ${refundBatches.id} = page.id`,
  })
