import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { type ListSource, nullable, type OldSortKey } from '../../db/lists/list-source.ts'
import type { Counting } from '../../db/lists/page-by-number.ts'
import { judgePage } from '../../db/lists/page-rows.ts'
import { paginate } from '../../db/lists/paginate.ts'
import type { FoundRows } from '../../db/lists/runs/found-in-runs.ts'
import { listByRuns } from '../../db/lists/runs/list-by-runs.ts'
import type { Fields, RowOf } from '../../db/select.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import type { CustomerView } from '../../db/customer-visibility.ts'
import type { UserFilters } from './contract.ts'
import { and } from '../../db/lists/order-keys.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import { shortIdsOf } from '../../db/short-ids.ts'
import { facetNumbers, fewestInEdition } from './run-list.ts'
import { rowsInRuns } from './runs.ts'
import type { CustomerOrder } from './starts.ts'

/** The keys of the list, of customers who are found first and sorted. */
function sortOf([by = { name: 'date_joined', desc: true }]: readonly OrderBy<CustomerOrder>[]): OldSortKey[] {
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

/** The column of what the caller's editions were given of a customer. */
export const givenColumn = sql`shown`

/** Customers as `users` with that column. */
export const withGiven = (view: CustomerView, from: SQL, given = view.given(sql`users.seq`)): SQL =>
  sql`select users.*${view.isWhole ? sql`` : sql`, ${given} as ${givenColumn}`} from ${from}`

/** The same, which is read once for each of them: without an offset SQLite may read it once for each column that names it. */
export const readWithGiven = (view: CustomerView, from: SQL, where: readonly SQL[], given?: SQL): SQL =>
  sql`(${withGiven(view, from, given)} where ${and(where)} limit -1 offset 0) as users`

export interface EditionsList<F extends Fields = Fields> {
  filters: UserFilters
  ordering: readonly OrderBy<CustomerOrder>[]
  view: CustomerView
  count: Counting
  key: SQL
  /** That of roles of the editions. */
  sort: readonly OldSortKey[]
  columns: F
}

/** What the caller's editions were given of customers to whom runs led. It is not read of those who are seen as the organisation has them. */
function givenOfFound(view: CustomerView, { isKnown, facet }: FoundRows): SQL {
  const [hidden, joined] = [facet(facetNumbers.hidden), facet(facetNumbers.joined)]
  const seq = sql`users.seq`
  return sql`case when not ${isKnown} then ${view.given(seq)} when ${hidden} = 0 and ${joined} = 0 then null
    else ${view.given(seq, hidden)} end`
}

/**
 * Customers of one edition, or of several of a role, by their runs, or sorted where they are few; otherwise no page. `request` is as
 * it was given, or that of the page behind a row to which runs led.
 */
export async function listOfEditions<F extends Fields>(
  ctx: Ctx,
  request: PageRequest,
  { filters, ordering, view, count, key, sort, columns }: EditionsList<F>,
): Promise<{ page: Page<RowOf<F>> | null; request: PageRequest }> {
  const rows = rowsInRuns(ctx, filters, view, ordering)
  if (!rows) return { page: null, request }
  const editions = shortIdsOf(editionsSeenBy(ctx.caller, filters))
  const source: Omit<ListSource<F>, 'from'> = {
    columns,
    key,
    joins: sql``,
    read: { table: sql`users`, joins: sql`` },
    // Whom the caller's editions do not have has no moment at which they joined them.
    where: view.isWhole ? [] : [sql`(${givenColumn} is null or ${givenColumn} ->> 1 is not null)`],
    sort: view.isWhole ? sortOf(ordering) : sort,
    count,
  }
  const isInEditions = sql`exists (select 1 from edition_customers
    where user_seq = users.seq and edition_short_id in (${editions}))`
  const found = await listByRuns(ctx.db, request, {
    rows,
    count: count.statement,
    isCounted: true,
    from: (some) =>
      readWithGiven(
        view,
        sql`${some.table} cross join users on users.seq = ${some.key}`,
        view.isWhole ? [sql`(${some.isKnown} or ${isInEditions})`] : [],
        givenOfFound(view, some),
      ),
    source: () => ({ ...source, from: sql`users` }),
  })
  if (found.page || found.total === undefined || found.total >= fewestInEdition) return found
  judgePage(request, request.after, found.total)
  const areOfEditions = sql`users.seq in (select user_seq from edition_customers where edition_short_id in (${editions}))`
  const from = readWithGiven(view, sql`users`, [areOfEditions])
  return { page: await paginate(ctx.db, request, { ...source, from }), request }
}
