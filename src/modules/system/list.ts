import { isNotNull, isNull, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable, isBefore, isFrom } from '../../db/filters.ts'
import { buildOrderBy, maxIndexedOffset, paginate } from '../../db/paginate.ts'
import { deadMessages } from '../../db/schema/dead-messages.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { DeadMessageQuery } from './contract.ts'
import { deadMessageColumns, type DeadMessageRow } from './queries.ts'

const filters: FilterTable<DeadMessageQuery> = {
  queue: equals(deadMessages.queue),
  is_retried: (isRetried) => (isRetried ? isNotNull(deadMessages.retried_at) : isNull(deadMessages.retried_at)),
  created_after: isFrom(deadMessages.created_at),
  created_before: isBefore(deadMessages.created_at),
}

export const listDeadMessages = (
  { db }: Ctx,
  page: PageRequest,
  query: DeadMessageQuery,
): Promise<Page<DeadMessageRow>> =>
  paginate(db, page, {
    from: sql`dead_messages indexed by dead_messages_by_time`,
    where: buildConditions(filters, query),
    orderBy: buildOrderBy(query.ordering, '-created', { created: sql`${deadMessages.created_at}` }),
    id: sql`${deadMessages.id}`,
    columns: deadMessageColumns,
    joins: sql`join ${deadMessages} on ${deadMessages.id} = page.id`,
    maxOffset: maxIndexedOffset,
  })
