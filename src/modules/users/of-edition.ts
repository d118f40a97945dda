import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { type ListSource, nullable, type SortKey } from '../../db/lists/list-source.ts'
import type { Counting } from '../../db/lists/page-by-number.ts'
import { paginate } from '../../db/lists/paginate.ts'
import { listByRuns } from '../../db/lists/runs/list-by-runs.ts'
import type { RunRows } from '../../db/lists/runs/open-runs.ts'
import type { Fields, RowOf } from '../../db/select.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import { conditionsOfEdition, type EditionFilters } from './conditions.ts'
import { fewestInEdition } from './runs.ts'
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

interface EditionList<F extends Fields> {
  filters: EditionFilters
  ordering: readonly OrderBy<CustomerOrder>[]
  rows: RunRows
  count: Counting
  source: Pick<ListSource<F>, 'columns' | 'key' | 'joins'>
}

/**
 * Customers of one edition, by its runs, or sorted where they are few; otherwise no page. `request` is as it was given, or that of
 * the page behind a row to which runs led.
 */
export async function listOfEdition<F extends Fields>(
  ctx: Ctx,
  request: PageRequest,
  { filters, ordering, rows, count, source }: EditionList<F>,
): Promise<{ page: Page<RowOf<F>> | null; request: PageRequest }> {
  const { columns, key, joins } = source
  const sorted: ListSource<F> = {
    columns,
    key,
    joins,
    where: conditionsOfEdition(ctx, filters),
    sort: sortOf(ordering),
    from: sql`edition_customers cross join users on users.seq = edition_customers.user_seq`,
    count,
  }
  const { statement } = count
  const found = await listByRuns(ctx.db, request, { rows, count: statement, isCounted: true, source: () => sorted })
  if (found.page || found.total === undefined || found.total >= fewestInEdition) return found
  return { page: await paginate(ctx.db, request, sorted), request }
}
