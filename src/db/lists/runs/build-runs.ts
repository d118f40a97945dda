import { type SQL, sql } from 'drizzle-orm'
import { LostRace } from '../../../domain/errors.ts'
import { commitPart, stillHolds } from '../../commit.ts'
import type { Database } from '../../database.ts'
import { storedIn } from '../../select.ts'
import type { RunWalk } from '../../schema/sales/runs.ts'
import { beyond, type KeyValues } from '../order-keys.ts'
import { inOrderOf as inOrderOfRanges } from '../ranges.ts'
import type { Entry } from './entries.ts'
import {
  compareInOrder,
  goneKind,
  haveOwners,
  haveValue,
  inOrderOf,
  keyOfEntry,
  keysIn,
  kindOf,
  rowsOfEdition,
  type RunList,
  type RunOrdering,
  scopeIn,
  valueIn,
} from './run-list.ts'
import { changedSince } from './run-notes.ts'
import type { RunSizes } from './run-sizes.ts'
import { dueRows, haveFormer, isOld, type RunSweep } from './due-rows.ts'
import { insertChunk, isOf, type NewRun, rowColumns, type State } from './write-chunk.ts'

interface BuildingWork {
  db: Database
  list: RunList
  now: number
  sizes: RunSizes
  steps: { left: number }
}

interface KindRow {
  created_at: number
  key: number | string
  owners?: string
  [facet: `facet${number}`]: string
}

/** The next rows of an edition in an ordering, and whether there are no others. */
async function nextEntries(
  { db, list, sizes }: BuildingWork,
  state: State,
  ordering: RunOrdering,
  after: KeyValues | null,
): Promise<{ entries: Entry[]; isWhole: boolean }> {
  const sort = keysIn(list, ordering).map((by) => ({ by, desc: false }))
  const { from, where, ranges, chunks = 1 } = await inOrderOf(db, list, { id: state.id, ordering, rows: sizes.rows })
  const selected = (range: readonly SQL[]): SQL => {
    const conditions = [
      ...range,
      ...where,
      ...(after ? [beyond(sort, after.slice(-sort.length))] : []),
      haveValue(ordering),
    ]
    return sql`select ${ordering.value ?? sql`0`} as value, ${rowColumns(list)} from ${from} where ${sql.join(conditions, sql` and `)}`
  }
  const order = sql.raw(
    [...(ordering.value ? ['value'] : []), ...(ordering.isByCreation ? ['created_at'] : []), 'key'].join(', '),
  )
  const rows = await db.all(
    sql<KindRow & { value: number | string }>`${inOrderOfRanges(ranges, selected, order)} limit ${sizes.rows * chunks}`,
  )
  const entries = rows.map(({ value, created_at, key, owners, ...row }): Entry => ({
    value,
    created_at,
    key,
    kind: kindOf(list, row),
    owners,
  }))
  return { entries, isWhole: rows.length < sizes.rows * chunks }
}

/** Changes of an edition are noted from now on where they do not make a row young. */
const noteUntil = (list: RunList, state: State): SQL =>
  sql`update ${list.states} set noted_until = max(noted_until, ${state.horizon}) where ${isOf(list, state)}`

const newestLate = (list: RunList, state: State): SQL<{ late: number }> =>
  sql`select coalesce(max(number), 0) as late from ${list.late} where ${isOf(list, state)}`

type ChangedRow = Record<string, string | number | null> & { changed: number | string; key: number | string | null }

/** Rows as an ordering has them: those that it does not have are gone. */
const entriesOf = (list: RunList, ordering: RunOrdering, rows: readonly ChangedRow[]): Entry[] =>
  rows
    .map((row): Entry => {
      const value = row.key === null ? null : (row[ordering.name] ?? null)
      if (value === null)
        return { value: ordering.isText ? '' : 0, created_at: 0, key: row.changed, kind: goneKind(list) }
      const owners = String(row['owners'] ?? '')
      return { value, created_at: Number(row.created_at), key: row.changed, kind: kindOf(list, row), owners }
    })
    .toSorted((a, b) => compareInOrder(keyOfEntry(ordering, a), keyOfEntry(ordering, b), false))

interface Delta {
  generation: number
  until: number
  late: number
}

/** The statements that store the next rows of a run, from the chunk with this number on. */
const chunkStatements = (
  list: RunList,
  run: NewRun,
  entries: readonly Entry[],
  { first = 0, rows }: { first?: number; rows: number },
) =>
  Promise.all(
    Array.from({ length: Math.ceil(entries.length / rows) }, (_, index) =>
      insertChunk(list, run, first + index, entries.slice(index * rows, (index + 1) * rows)),
    ),
  )

/** The statements that store the delta of a generation, as the rows are now. */
async function deltaStatements(work: BuildingWork, state: State, main: Delta) {
  const { db, list, sizes } = work
  const [first, ...others] = list.orderings.map((one) => sql`${valueIn(one)} as ${sql.raw(one.name)}`)
  const since = { id: sql`${state.id}`, until: sql`${main.until}`, late: sql`${main.late}` }
  const [, rows, [newest]] = await db.batch([
    noteUntil(list, state),
    sql<ChangedRow>`select changed.key as changed, ${rowColumns(list)}, ${sql.join([first, ...others], sql`, `)}
      from (${changedSince(list, since)}) as changed
        ${rowsOfEdition(list, { key: sql`changed.key`, id: since.id }, true)}`,
    newestLate(list, state),
  ])
  const chunks = await Promise.all(
    list.orderings.map((ordering) => {
      const run = { state, ordering, generation: main.generation, isDelta: true }
      return chunkStatements(list, run, entriesOf(list, ordering, rows), sizes)
    }),
  )
  const used = Math.ceil(rows.length / sizes.rows)
  const set = sql`until = ${state.horizon}, late = ${newest?.late ?? 0}, delta_size = ${rows.length}`
  const spare = sql`delete from ${list.runs}
    where ${isOf(list, state)} and generation = ${main.generation} and is_delta = 1 and number >= ${used}`
  return { chunks: [spare, ...chunks.flat()], set }
}

/** Makes the delta anew. */
async function buildDelta(work: BuildingWork, state: State): Promise<void> {
  const { list } = work
  const { generation, main_until: until, main_late: late } = state
  const { chunks, set } = await deltaStatements(work, state, { generation, until, late })
  await commitPart(work, [
    stillHolds(sql`exists (select 1 from ${list.states}
      where ${isOf(list, state)} and generation = ${generation} and until = ${state.until} and late = ${state.late})`),
    ...chunks,
    sql`update ${list.states} set ${set} where ${isOf(list, state)}`,
  ])
}

/** Begins the next generation. Of few rows it has a delta alone, which needs no walk. */
async function beginWalk(work: BuildingWork, state: State, areFew: boolean): Promise<void> {
  const { db, list } = work
  await db.batch([
    noteUntil(list, state),
    sql`update ${list.states} set walk = json_object('generation', generation + 1, 'until', ${areFew ? 0 : state.horizon},
        'late', (${newestLate(list, state)}),
        'ordering', ${areFew ? list.orderings.length : 0}, 'number', 0, 'size', 0, 'after', null)
        ${list.arePersonal ? sql`, walked_at = ${work.now}` : sql``}
      where ${isOf(list, state)} and walk is null and generation = ${state.generation}`,
  ])
}

const walkHolds = (list: RunList, state: State): SQL =>
  stillHolds(sql`exists (select 1 from ${list.states} where ${isOf(list, state)} and walk is ${state.walk})`)

/** Lists read the next generation from now on. Of notes the two last walks need none of the earlier ones. */
async function endWalk(work: BuildingWork, state: State, walk: RunWalk): Promise<void> {
  const { list } = work
  const { chunks, set } = await deltaStatements(work, state, walk)
  await commitPart(work, [
    walkHolds(list, state),
    ...chunks,
    sql`delete from ${list.runs} where ${isOf(list, state)} and generation < ${walk.generation}`,
    sql`delete from ${list.late} where ${isOf(list, state)} and number <= ${state.main_late}
      and number < (select max(number) from ${list.late} where ${isOf(list, state)})`,
    sql`update ${list.states} set generation = ${walk.generation}, main_until = ${walk.until}, main_late = ${walk.late},
        main_size = ${walk.size}, ${set}, ${ownersSince(list, state, walk)} walk = null
      where ${isOf(list, state)}`,
  ])
}

/** The version before stores chunks without owners. */
const ownersSince = (list: RunList, state: State, { generation }: RunWalk): SQL =>
  list.owners
    ? sql`owners_generation = iif(exists (select 1 from ${list.runs}
        where ${isOf(list, state)} and generation = ${generation} and has_owners = 0), 0, ${generation}),`
    : sql``

async function walkStep(work: BuildingWork, state: State, walk: RunWalk): Promise<void> {
  const { list, sizes } = work
  const ordering = list.orderings[walk.ordering]
  if (!ordering) return endWalk(work, state, walk)
  const { entries, isWhole } = await nextEntries(work, state, ordering, walk.after)
  const last = entries.at(-1)
  const size = walk.ordering === 0 ? walk.size + entries.length : walk.size
  const run = { state, ordering, generation: walk.generation, isDelta: false }
  const chunks = await chunkStatements(list, run, entries, { first: walk.number, rows: sizes.rows })
  const next: RunWalk =
    isWhole || !last
      ? { ...walk, size, ordering: walk.ordering + 1, number: 0, after: null }
      : { ...walk, size, number: walk.number + chunks.length, after: keyOfEntry(ordering, last) as RunWalk['after'] }
  await commitPart(work, [
    walkHolds(list, state),
    ...chunks,
    sql`update ${list.states} set walk = ${JSON.stringify(next)} where ${isOf(list, state)}`,
  ])
}

const stateOf = async ({ db, list, now }: BuildingWork, id: string): Promise<State | undefined> =>
  db.first(sql<State>`select *, ${scopeIn(list)} as id, ${list.young.horizon(sql`${id}`, now)} as horizon,
      ${haveFormer(list, now)} as has_former, not ${haveOwners(list)} as lacks_owners
    from ${list.states} as state where ${scopeIn(list)} = ${id}`)

/** Builds what is due of an edition. True where more is due than steps are left. */
async function buildRuns(work: BuildingWork, id: string): Promise<boolean> {
  const { db, list, sizes, steps } = work
  let state = await stateOf(work, id)
  if (!state) {
    await db.batch([sql`insert into ${list.states} (${scopeIn(list)}) values (${id}) on conflict do nothing`])
    state = await stateOf(work, id)
  }
  if (!state) return false
  const due = await dueRows(work, state, sizes.mostInDelta + 1)
  const isBehind =
    state.generation === 0 ||
    state.has_former === 1 ||
    state.lacks_owners === 1 ||
    (due > sizes.fewestDue && isOld(state, due, sizes))
  // While the next main run is made, lists read the former one.
  if (state.generation > 0 && due > sizes.fewestDue && state.delta_size + due <= 2 * sizes.mostInDelta)
    await buildDelta(work, state)
  const areFew = state.main_size === 0 && state.delta_size + due <= sizes.fewestInDelta
  if (isBehind && state.walk === null) await beginWalk(work, state, areFew)
  for (;;) {
    state = await stateOf(work, id)
    const walk = state?.walk && storedIn(list.states.walk, state.walk)
    if (!state || !walk) return false
    if (steps.left-- <= 0) return true
    await walkStep(work, state, walk)
  }
}

/** Builds runs of editions in bounded steps. Answers those that it came to no end with. */
export async function buildRunsOfEditions(
  db: Database,
  list: RunList,
  ids: readonly string[],
  { now, sizes, steps = { left: sizes.stepsASweep } }: RunSweep & { steps?: BuildingWork['steps'] },
): Promise<readonly string[]> {
  for (const [index, id] of ids.entries())
    try {
      if (await buildRuns({ db, list, now, sizes, steps }, id)) return ids.slice(index)
    } catch (error) {
      // Another sweep, which is still at work, builds them.
      if (!(error instanceof LostRace)) throw error
    }
  return []
}
