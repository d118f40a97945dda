import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import type { ListSource } from '../../../db/lists/list-source.ts'
import { beyond, type KeyValues, keysOf } from '../../../db/lists/order-keys.ts'
import { paginate } from '../../../db/lists/paginate.ts'
import { union, united } from '../../../db/lists/ranges.ts'
import { ofKinds } from '../../../db/order-kinds.ts'
import { orders } from '../../../db/schema/sales/orders.ts'
import type { Fields, RowOf } from '../../../db/select.ts'
import { shortIdsOf } from '../../../db/short-ids.ts'
import { editionsSeenBy } from '../../../db/visibility.ts'
import type { Page, PageRequest } from '../../../domain/page.ts'
import { isOfWholeEditions, type OrderFilters, type OrderOrdering } from '../filters.ts'
import { rangesOfKinds } from '../orderings.ts'
import { keyOfEntry, runOrderings } from './run-orderings.ts'
import { LostChunk, mostSorted, type RunRows, RunReader, listedOrders } from './read-runs.ts'

/** Orders that may be on the page, and the key of the list up to which there are no others; null for its end. */
interface Candidates {
  seqs: readonly number[]
  bound: KeyValues | null
}

/** Orders that are read beyond a page, because some may have changed meanwhile. */
const spare = 8
const mostTries = 4

const noMoment = 2 ** 53

/** A list that runs serve: one of a range of time, in an order that has runs, without other filters than kinds; null for others. */
function rowsOf(
  ctx: Ctx,
  { page, after }: PageRequest,
  filters: OrderFilters,
  ordering: OrderOrdering,
): RunRows | null {
  const { created_after, created_before, status, type } = filters
  const { order_number, customer_email, customer_phone, search } = filters
  const [by, ...others] = ordering
  const isInTime = created_after !== undefined || created_before !== undefined
  if (!by || others.length > 0 || !isInTime || !isOfWholeEditions(filters) || (page > 1 && !after)) return null
  if ([order_number, customer_email, customer_phone, search].some((text) => text !== undefined)) return null
  const isNumber = by.name === 'order_number'
  const found = runOrderings.find(({ name }) => name === (isNumber ? 'number' : by.name))
  const keys = isNumber ? after?.slice(1) : after
  // An index has orders without a number in the order of creation.
  if (!found || (isNumber && Number(after?.[0] ?? 0) > 0) || (after && keys?.length !== 3)) return null
  return {
    editions: editionsSeenBy(ctx.caller, filters),
    from: created_after ?? -noMoment,
    until: created_before === undefined ? noMoment : created_before + 1,
    status,
    type,
    ordering: found,
    isDesc: by.desc,
    after: keys ?? null,
  }
}

/** The first orders of a range of time by creation, if it has few. */
async function fewOrders({ db }: Ctx, rows: RunRows): Promise<number[] | null> {
  const found = await db.all(sql<{ seq: number }>`select seq from orders
    where edition_short_id in (${shortIdsOf(rows.editions)}) and created_at >= ${rows.from} and created_at < ${rows.until}
      ${rows.status || rows.type ? sql`and ${ofKinds(rows)}` : sql``}
    limit ${mostSorted + 1}`)
  return found.length <= mostSorted ? found.map(({ seq }) => seq) : null
}

/** The first orders without a number, which stand behind those with one. */
async function unnumbered({ db }: Ctx, { editions, from, until, status, type, isDesc }: RunRows, count: number) {
  const direction = sql.raw(isDesc ? 'desc' : 'asc')
  const isOf = [status && sql`status = ${status}`, type && sql`type = ${type}`].filter((one) => one !== undefined)
  const selected =
    (edition: SQL) =>
    (range: readonly SQL[]): SQL =>
      sql`select seq, created_at from orders indexed by orders_edition_number
      where ${sql.join([...range, ...isOf], sql` and `)} and edition_short_id = ${edition} and number_key is null
        and created_at >= ${from} and created_at < ${until}`
  const ids = await db.all(sql<{ id: string }>`${shortIdsOf(editions)}`)
  const order = sql`created_at ${direction}, seq ${direction}`
  const parts = ids.map(
    ({ id }) => sql`select * from (${united(rangesOfKinds, selected(sql`${id}`), order)} limit ${count})`,
  )
  if (parts.length === 0) return []
  return db.all(
    sql<{ seq: number; created_at: number }>`select * from (${union(parts)}) order by ${order} limit ${count}`,
  )
}

async function candidatesOf(ctx: Ctx, rows: RunRows, reader: RunReader, count: number): Promise<Candidates> {
  const { entries, isWhole } = await reader.take(count)
  const isNumber = rows.ordering.name === 'number'
  const seqs = entries.map(({ seq }) => seq)
  const last = entries.at(-1)
  if (!isWhole && last) return { seqs, bound: isNumber ? [0, ...keyOfEntry(last)] : keyOfEntry(last) }
  if (!isNumber) return { seqs, bound: null }
  const others = await unnumbered(ctx, rows, count)
  const end = others.length === count ? others.at(-1) : undefined
  return { seqs: [...seqs, ...others.map(({ seq }) => seq)], bound: end ? [1, 0, end.created_at, end.seq] : null }
}

/** Some orders, by `seq`, that are before a bound. */
function sourceOf<F extends Fields>(
  request: PageRequest,
  source: ListSource<F>,
  { listed, bound }: { listed: SQL; bound: KeyValues | null },
): ListSource<F> {
  const { keys } = keysOf(source, request)
  return {
    ...source,
    from: sql`(${listed}) as found cross join ${orders} on ${orders.seq} = found.seq`,
    where: [...source.where, ...(bound ? [sql`not ${beyond(keys, bound)}`] : [])],
  }
}

/** A page of a list that runs serve; null where there are none. `source` sorts orders that are found first. */
export async function listByRuns<F extends Fields>(
  ctx: Ctx,
  request: PageRequest,
  { filters, ordering }: { filters: OrderFilters; ordering: OrderOrdering },
  source: () => ListSource<F>,
): Promise<Page<RowOf<F>> | null> {
  const rows = rowsOf(ctx, request, filters, ordering)
  if (!rows) return null
  for (let tries = 0; tries < mostTries; tries++)
    try {
      const reader = await RunReader.open(ctx.db, rows)
      return reader && (await pageOf(ctx, request, { rows, reader, source: source() }))
    } catch (error) {
      // A new generation has replaced the runs.
      if (!(error instanceof LostChunk)) throw error
    }
  return null
}

async function pageOf<F extends Fields>(
  ctx: Ctx,
  request: PageRequest,
  { rows, reader, source }: { rows: RunRows; reader: RunReader; source: ListSource<F> },
): Promise<Page<RowOf<F>>> {
  const page = ({ seqs, bound }: Candidates) =>
    paginate(ctx.db, request, sourceOf(request, source, { listed: listedOrders(rows, reader.states, seqs), bound }))
  const isNarrow = rows.status || rows.type || reader.matching <= mostSorted
  const few = isNarrow ? await fewOrders(ctx, rows) : null
  if (few) return page({ seqs: few, bound: null })
  for (let count = request.size + 1 + spare; ; count *= 4) {
    const candidates = await candidatesOf(ctx, rows, reader, count)
    const found = await page(candidates)
    // Orders that have changed meanwhile may have left too few.
    if (found.after !== null || candidates.bound === null) return found
  }
}
