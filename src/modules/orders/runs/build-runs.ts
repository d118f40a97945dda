import { type SQL, sql } from 'drizzle-orm'
import { commitPart, stillHolds } from '../../../db/commit.ts'
import type { Database } from '../../../db/database.ts'
import { beyond, keyColumns, type KeyValues, orderOf } from '../../../db/lists/order-keys.ts'
import { inAnyRange, united } from '../../../db/lists/ranges.ts'
import { orders } from '../../../db/schema/sales/orders.ts'
import { orderRunStates, type RunWalk } from '../../../db/schema/sales/order-runs.ts'
import { storedIn } from '../../../db/select.ts'
import { LostRace } from '../../../domain/errors.ts'
import type { OrderStatus, OrderType } from '../../../domain/orders/orders.ts'
import { rangesOfKinds } from '../orderings.ts'
import { type Entry, goneKind, packEntries } from './entries.ts'
import { compareInOrder, keyOfEntry, kindOf, type RunOrdering, runOrderings, spanOf } from './run-orderings.ts'
import type { RunSizes } from './run-sizes.ts'

/** No request takes so long: few orders come to an earlier moment of change, and these are noted. */
const settledAfterMs = 120_000

interface State {
  edition_short_id: string
  generation: number
  main_until: number
  main_late: number
  until: number
  late: number
  main_size: number
  delta_size: number
  walk: string | null
}

interface BuildingWork {
  db: Database
  /** Orders of an earlier moment of change are due. */
  horizon: number
  sizes: RunSizes
  steps: { left: number }
}

const ofEdition = ({ edition_short_id: id }: State): SQL => sql`edition_short_id = ${id}`

const spansOf = (entries: readonly Entry[]): string => {
  const spans = Map.groupBy(entries, ({ created_at }) => spanOf(created_at))
  return JSON.stringify([...spans].map(([span, { length }]) => [span, length]))
}

interface OrderRun {
  state: State
  ordering: RunOrdering
  generation: number
  isDelta: boolean
}

function insertChunk(
  { state, ordering, generation, isDelta }: OrderRun,
  number: number,
  entries: readonly Entry[],
): SQL {
  const [first] = entries
  const bytes = packEntries(entries)
  return sql`insert or replace into order_runs (edition_short_id, ordering, generation, is_delta, number, first_value,
      first_created_at, first_seq, spans, entries)
    values (${state.edition_short_id}, ${ordering.name}, ${generation}, ${Number(isDelta)}, ${number}, ${first?.value},
      ${first?.created_at}, ${first?.seq}, ${spansOf(entries)}, ${sql.param(bytes)})`
}

interface KindRow {
  status: OrderStatus
  type: OrderType
}

/** The next orders of an edition in an ordering. */
async function nextEntries(
  db: Database,
  state: State,
  ordering: RunOrdering,
  { after, limit }: { after: KeyValues | null; limit: number },
) {
  const keys = [ordering.value, sql`${orders.created_at}`, sql`${orders.seq}`]
  const sort = keys.map((by) => ({ by, desc: false }))
  const named = keys.map((_, index) => ({ by: sql.raw(`k${index}`), desc: false }))
  const selected = (range: readonly SQL[]): SQL => {
    const conditions = [...range, sql`${orders}.${ofEdition(state)}`, after ? beyond(sort, after) : ordering.where]
    return sql`select ${keyColumns(keys)}, status, type from ${orders} indexed by ${ordering.index}
      where ${sql.join(conditions, sql` and `)}`
  }
  const rows = await db.all(
    sql<
      KindRow & { k0: number | string; k1: number; k2: number }
    >`${united(rangesOfKinds, selected, orderOf(named))} limit ${limit}`,
  )
  return rows.map((row): Entry => ({ value: row.k0, created_at: row.k1, seq: row.k2, kind: kindOf(row) }))
}

/** Changes of an edition are noted from now on where they do not make an order young. */
const noteUntil = (state: State, horizon: number): SQL =>
  sql`update order_run_states set noted_until = max(noted_until, ${horizon}) where ${ofEdition(state)}`

const newestLate = (state: State): SQL<{ late: number }> =>
  sql`select coalesce(max(number), 0) as late from late_orders where ${ofEdition(state)}`

const isInKinds = inAnyRange(rangesOfKinds)

/** Orders that were changed from a moment on, or noted behind a number. */
const changedSince = (state: State, until: number, late: number): SQL =>
  sql`select seq from orders indexed by orders_edition_modified
      where ${ofEdition(state)} and ${isInKinds} and modified_at >= ${until}
    union select seq from late_orders where ${ofEdition(state)} and number > ${late}`

type ChangedRow = KindRow & {
  key: number
  seq: number | null
  created_at: number
  amount: number
  modified: number
  number: string | null
}

/** Orders as an ordering has them: those that it does not have are gone. */
const entriesOf = ({ name, least }: RunOrdering, rows: readonly ChangedRow[]): Entry[] =>
  rows
    .map((row): Entry => {
      const value = row.seq === null ? null : row[name]
      if (value === null) return { value: least, created_at: 0, seq: row.key, kind: goneKind }
      return { value, created_at: row.created_at, seq: row.key, kind: kindOf(row) }
    })
    .toSorted((a, b) => compareInOrder(keyOfEntry(a), keyOfEntry(b), false))

interface Delta {
  generation: number
  until: number
  late: number
}

/** The statements that store the delta of a generation, as the orders are now. */
async function deltaStatements({ db, horizon, sizes }: BuildingWork, state: State, main: Delta) {
  const [, rows, [newest]] = await db.batch([
    noteUntil(state, horizon),
    sql<ChangedRow>`select changed.seq as key, orders.seq, created_at, amount_minor as amount, modified_at as modified,
        number_key as number, status, type
      from (${changedSince(state, main.until, main.late)}) as changed
        left join orders on orders.seq = changed.seq and orders.${ofEdition(state)}`,
    newestLate(state),
  ])
  const chunks = runOrderings.flatMap((ordering) => {
    const entries = entriesOf(ordering, rows)
    const run = { state, ordering, generation: main.generation, isDelta: true }
    return Array.from({ length: Math.ceil(entries.length / sizes.orders) }, (_, number) =>
      insertChunk(run, number, entries.slice(number * sizes.orders, (number + 1) * sizes.orders)),
    )
  })
  const used = Math.ceil(rows.length / sizes.orders)
  const set = sql`until = ${horizon}, late = ${newest?.late ?? 0}, delta_size = ${rows.length}`
  const spare = sql`delete from order_runs
    where ${ofEdition(state)} and generation = ${main.generation} and is_delta = 1 and number >= ${used}`
  return { chunks: [spare, ...chunks], set }
}

/** Makes the delta anew. */
async function buildDelta(work: BuildingWork, state: State): Promise<void> {
  const { generation, main_until: until, main_late: late } = state
  const { chunks, set } = await deltaStatements(work, state, { generation, until, late })
  await commitPart(work, [
    stillHolds(sql`exists (select 1 from order_run_states
      where ${ofEdition(state)} and generation = ${generation} and until = ${state.until} and late = ${state.late})`),
    ...chunks,
    sql`update order_run_states set ${set} where ${ofEdition(state)}`,
  ])
}

/** Begins the next generation. */
async function beginWalk({ db, horizon }: BuildingWork, state: State): Promise<void> {
  await db.batch([
    noteUntil(state, horizon),
    sql`update order_run_states set walk = json_object('generation', generation + 1, 'until', ${horizon},
        'late', (select coalesce(max(number), 0) from late_orders where ${ofEdition(state)}),
        'ordering', 0, 'number', 0, 'size', 0, 'after', null)
      where ${ofEdition(state)} and walk is null and generation = ${state.generation}`,
  ])
}

const walkHolds = (state: State): SQL =>
  stillHolds(sql`exists (select 1 from order_run_states where ${ofEdition(state)} and walk is ${state.walk})`)

/** Lists read the next generation from now on. Of notes the two last walks need none of the earlier ones. */
async function endWalk(work: BuildingWork, state: State, walk: RunWalk): Promise<void> {
  const { chunks, set } = await deltaStatements(work, state, walk)
  await commitPart(work, [
    walkHolds(state),
    ...chunks,
    sql`delete from order_runs where ${ofEdition(state)} and generation < ${walk.generation}`,
    sql`delete from late_orders where ${ofEdition(state)} and number <= ${state.main_late}
      and number < (select max(number) from late_orders where ${ofEdition(state)})`,
    sql`update order_run_states set generation = ${walk.generation}, main_until = ${walk.until}, main_late = ${walk.late},
        main_size = ${walk.size}, ${set}, walk = null
      where ${ofEdition(state)}`,
  ])
}

async function walkStep(work: BuildingWork, state: State, walk: RunWalk): Promise<void> {
  const ordering = runOrderings[walk.ordering]
  if (!ordering) return endWalk(work, state, walk)
  const limit = work.sizes.orders
  const entries = await nextEntries(work.db, state, ordering, { after: walk.after, limit })
  const last = entries.at(-1)
  const isWhole = !last || entries.length < limit
  const size = walk.ordering === 0 ? walk.size + entries.length : walk.size
  const next: RunWalk = isWhole
    ? { ...walk, size, ordering: walk.ordering + 1, number: 0, after: null }
    : { ...walk, size, number: walk.number + 1, after: keyOfEntry(last) }
  const run = { state, ordering, generation: walk.generation, isDelta: false }
  await commitPart(work, [
    walkHolds(state),
    ...(last ? [insertChunk(run, walk.number, entries)] : []),
    sql`update order_run_states set walk = ${JSON.stringify(next)} where ${ofEdition(state)}`,
  ])
}

const stateOf = async (db: Database, id: string): Promise<State | undefined> =>
  db.first(sql<State>`select * from order_run_states where edition_short_id = ${id}`)

/** The number of orders that are due, up to some. */
async function dueOrders({ db, horizon }: BuildingWork, state: State, most: number): Promise<number> {
  const found = await db.first(sql<{ n: number }>`select
      (select count(*) from (select 1 from orders indexed by orders_edition_modified
        where ${ofEdition(state)} and ${isInKinds} and modified_at >= ${state.until} and modified_at < ${horizon} limit ${most}))
      + (select count(*) from (select 1 from late_orders where ${ofEdition(state)} and number > ${state.late} limit ${most})) as n`)
  return found?.n ?? 0
}

/** Whether a main run is too far behind. */
const isOld = ({ main_size, delta_size }: State, due: number, { fewestInDelta, mostInDelta }: RunSizes): boolean =>
  delta_size + due > Math.min(mostInDelta, Math.max(fewestInDelta, main_size / 16))

/** Builds what is due of an edition. True where more is due than steps are left. */
async function buildRuns(work: BuildingWork, id: string): Promise<boolean> {
  const { db, sizes, steps } = work
  let state = await stateOf(db, id)
  if (!state) {
    await db.batch([sql`insert into order_run_states (edition_short_id) values (${id}) on conflict do nothing`])
    state = await stateOf(db, id)
  }
  if (!state) return false
  const due = await dueOrders(work, state, sizes.mostInDelta + 1)
  const isBehind = state.generation === 0 || (due > sizes.fewestDue && isOld(state, due, sizes))
  // While the next main run is made, lists read the former one.
  if (state.generation > 0 && due > sizes.fewestDue && state.delta_size + due <= 2 * sizes.mostInDelta)
    await buildDelta(work, state)
  if (isBehind && state.walk === null) await beginWalk(work, state)
  for (;;) {
    state = await stateOf(db, id)
    const walk = state?.walk && storedIn(orderRunStates.walk, state.walk)
    if (!state || !walk) return false
    if (steps.left-- <= 0) return true
    await walkStep(work, state, walk)
  }
}

/** Builds runs of the editions of these organisations in bounded steps. Answers those that it came to no end with. */
export async function buildRunsOf(
  db: Database,
  organizations: readonly string[],
  { now, sizes }: { now: number; sizes: RunSizes },
): Promise<readonly string[]> {
  const work = { db, horizon: now - settledAfterMs, sizes, steps: { left: sizes.stepsASweep } }
  for (const [index, organization] of organizations.entries()) {
    const found = await db.all(
      sql<{ id: string }>`select short_id as id from editions where organization_id = ${organization}`,
    )
    for (const { id } of found)
      try {
        if (await buildRuns(work, id)) return organizations.slice(index)
      } catch (error) {
        // Another sweep, which is still at work, builds them.
        if (!(error instanceof LostRace)) throw error
      }
  }
  return []
}
