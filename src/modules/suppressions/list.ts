import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { suppressions } from '../../db/schema/suppressions.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import { normalizeEmail, normalizePhone } from '../../domain/accounts/users.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { SuppressionQuery } from './contract.ts'
import { suppressionColumns, type SuppressionRow, suppressionVisibility } from './queries.ts'

/** Compares the address in its normal forms, as an e-mail address and as a phone number. */
function isAddress(address: string): SQL {
  const spellings = [normalizeEmail(address), normalizePhone(address, null)]
  return inList(
    sql`${suppressions.address}`,
    spellings.filter((spelling) => spelling !== null),
  )
}

const filters: FilterTable<SuppressionQuery> = {
  organization_id: equals(suppressions.organization_id),
  channel: equals(suppressions.channel),
  reason: equals(suppressions.reason),
  address: isAddress,
}

const sortColumns = { created: sql`${suppressions.created_at}`, address: sql`${suppressions.address}` }

export const listSuppressions = (ctx: Ctx, page: PageRequest, query: SuppressionQuery): Promise<Page<SuppressionRow>> =>
  paginate(ctx.db, page, {
    from: sql`${suppressions}`,
    where: [isVisibleIn(ctx.caller, suppressionVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${suppressions.id}`,
    columns: suppressionColumns,
    joins: sql`join ${suppressions} on ${suppressions.id} = page.id`,
  })
