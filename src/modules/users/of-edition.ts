import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { type ListSource, nullable, type SortKey } from '../../db/lists/list-source.ts'
import type { Counting } from '../../db/lists/page-by-number.ts'
import { judgePage } from '../../db/lists/page-rows.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { listByRuns } from '../../db/lists/runs/list-by-runs.ts'
import type { Fields, RowOf } from '../../db/select.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import { type CustomerView, givenColumns, isSharedOutside } from '../../db/customer-visibility.ts'
import { conditionsOfEdition, type UserFilters } from './conditions.ts'
import { fewestInEdition, rowsInRuns } from './runs.ts'
import type { CustomerOrder } from './starts.ts'

/** The keys of the list, of customers who are found first and sorted. */
function sortOf([by = { name: 'date_joined', desc: true }]: readonly OrderBy<CustomerOrder>[]): SortKey[] {
  const { name, desc } = by
  const [joined, number] = [{ by: sql`users.created_at`, desc }, sql`users.phone_number`]
  if (name === 'date_joined') return [joined]
  if (name === 'email') return [{ by: nullable(sql`users.email`), desc }]
  if (name === 'last_seen') return [{ by: nullable(sql`users.last_seen_at`), desc }, joined]
  return [
    { by: sql`case when ${number} is null then 1 when ${number} < 'usr_' then 0 else 2 end`, desc: false },
    { by: sql`iif(${number} < 'usr_', ${number}, 0)`, desc },
    joined,
  ]
}

export interface EditionList<F extends Fields = Fields> {
  filters: UserFilters
  ordering: readonly OrderBy<CustomerOrder>[]
  view: CustomerView
  count: Counting
  key: SQL
  /** That of roles of the edition. */
  sort: readonly SortKey[]
  columns: F
}

/**
 * Customers of one edition, by its runs, or sorted where they are few; otherwise no page. `request` is as it was given, or that of
 * the page behind a row to which runs led.
 */
export async function listOfEdition<F extends Fields>(
  ctx: Ctx,
  request: PageRequest,
  { filters, ordering, view, count, key, sort, columns }: EditionList<F>,
): Promise<{ page: Page<RowOf<F>> | null; request: PageRequest }> {
  const rows = rowsInRuns(ctx, filters, view, ordering)
  if (!rows) return { page: null, request }
  // Of the order of joining each customer is judged once, and not joined with another edition before.
  const isJudged = ordering.some(({ name }) => name !== 'date_joined')
  const join = isJudged ? view.join : sql``
  const isHidden = isJudged ? view.isHidden : isSharedOutside(sql`users`, view.reached ?? [])
  const sorted: ListSource<F> = {
    columns,
    key,
    joins: sql``,
    read: { table: sql`users`, joins: sql``, ...(view.isWhole ? {} : { more: givenColumns(isHidden) }) },
    where: conditionsOfEdition(ctx, filters),
    sort: view.isWhole ? sortOf(ordering) : sort,
    from: sql`edition_customers cross join users on users.seq = edition_customers.user_seq ${join}`,
    count,
  }
  const list = { rows, count: count.statement, isCounted: true, source: () => sorted, joins: join }
  const found = await listByRuns(ctx.db, request, list)
  if (found.page || found.total === undefined || found.total >= fewestInEdition) return found
  judgePage(request, request.after, found.total)
  return { page: await paginate(ctx.db, request, sorted), request }
}
