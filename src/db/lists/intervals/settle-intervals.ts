import { sql } from 'drizzle-orm'
import { settledUntil } from '../settled-until.ts'
import { LostRace } from '../../../domain/errors.ts'
import { commitPart, stillHolds } from '../../commit.ts'
import type { Database } from '../../database.ts'
import { giveWay } from '../give-way.ts'
import { isKnown, keyOf, numberOf } from './interval-columns.ts'
import { type IntervalList, momentsOfPart, rowsOfPart, settledPartsOf } from './interval-list.ts'
import {
  addToIntervals,
  deleteNext,
  firstIntervals,
  type Interval,
  intervalColumns,
  keyBehindIntervals,
  keyBehindRows,
  recountInterval,
} from './write-intervals.ts'

export interface IntervalSizes {
  /** Organisations with fewer rows have no intervals. */
  fewestRows: number
  /** Fewer rows that are due are read one by one. */
  fewestDue: number
  rowsAStep: number
  /** Transactions. */
  stepsASweep: number
  /** Of a new interval. One of more than twice as many is divided, and two are joined that have few more than a half together. */
  rows: number
}

export const intervalSizes: IntervalSizes = {
  fewestRows: 20_000,
  fewestDue: 100,
  rowsAStep: 1000,
  stepsASweep: 200,
  rows: 750,
}

/** Few rows change later. One that does is exact at once, and writes more. */
const settledAfterMs = 120_000

interface SettlingWork {
  list: IntervalList
  /** Rows of an earlier moment are due. */
  horizon: number
  sizes: IntervalSizes
  steps: { left: number }
}

interface DuePart {
  id: string
  key: string
  until: number
  due: number
}

/** The parts of a scope with rows that are due. */
function dueParts(db: Database, scope: string, { list, horizon, sizes }: SettlingWork) {
  const { at } = list.settled
  const due = rowsOfPart(list, list.settled, sql`part.key`, [sql`${at} >= part.until`, sql`${at} < ${horizon}`])
  return db.all(sql<DuePart>`select * from (
      select part.*, (select count(*) from (select 1 from ${due} limit ${sizes.fewestDue + 1})) as due
      from (${settledPartsOf(list, scope)}) as part)
    where due > 0`)
}

/** How far rows were counted when intervals were divided last, stands beside how far they are. */
const adjustedName = ({ name }: IntervalList): string => `${name} divided`

/** Counts the next rows of a part. Rows that are changed meanwhile are counted by triggers. */
async function settleStep(
  db: Database,
  part: DuePart,
  { list, scopes, horizon, sizes }: SettlingWork & { scopes: readonly string[] },
): Promise<number> {
  const { at } = list.settled
  const isNext = sql`${at} >= ${part.until}`
  const last = await db.first(
    sql<{
      at: number
    }>`${momentsOfPart(list, part.key, [isNext, sql`${at} < ${horizon}`])} limit 1 offset ${sizes.rowsAStep}`,
  )
  // All rows of one moment are counted together.
  const until = last ? last.at + 1 : horizon
  await commitPart({ db }, [
    stillHolds(
      sql`coalesce((select until from settled_lists where list = ${list.name} and scope = ${part.id}), 0) = ${part.until}`,
    ),
    ...firstIntervals(list, scopes),
    addToIntervals(list, scopes, { key: part.key, areSettled: sql`${isNext} and ${at} < ${until}` }),
    settledUntil(list.name, part.id, until),
  ])
  return until
}

/** A scope whose intervals are divided and joined. */
interface Adjusted {
  id: string
  /** Of a part: what its rows have in the column `part`. */
  key: string | null
}

/**
 * Divides the intervals of too many rows, joins those of few where no more are about to come, and counts those anew that do
 * not know all numbers. Each transaction leaves exact counts, and one that divides reads few rows. True where there were such
 * intervals.
 */
async function adjust(
  db: Database,
  { id, key }: Adjusted,
  { list, sizes, steps, areJoined }: SettlingWork & { areJoined: boolean },
): Promise<boolean> {
  const size = sizes.rows
  const total = numberOf(list)
  const isJoined = areJoined ? sql`coalesce(total + next < ${0.6 * size}, 0)` : sql`0`
  const found = await db.all(sql<Interval & { is_joined: number; is_known: number }>`
    select ${intervalColumns(list)}, is_known, ${isJoined} as is_joined from (
      select scope, ordering, ${keyOf(list)}, ${isKnown(list)} as is_known, ${total} as total,
        lead(${total}) over (partition by ordering order by ${keyOf(list)}) as next
      from ${list.intervals} where scope = ${id})
    where total > ${2 * size} or ${isJoined} or not is_known limit ${steps.left}`)
  const rows = Math.floor(1.5 * sizes.rowsAStep)
  for (const { is_joined, is_known, ...interval } of found) {
    await giveWay()
    const { ordering } = interval
    const bound =
      key === null
        ? keyBehindIntervals(list, id, ordering, Math.ceil(rows / size))
        : keyBehindRows(list, ordering, { id, key }, rows)
    if (is_joined) await db.batch([deleteNext(list, interval), recountInterval(list, interval)])
    else await db.batch([recountInterval(list, interval, is_known ? { size, bound } : {})])
  }
  steps.left -= found.length
  return found.length > 0
}

/** The parts of a scope and then the scope itself, if rows were counted since their intervals were divided and joined last. */
const toAdjust = (db: Database, scope: string, list: IntervalList) => {
  const parts = settledPartsOf(list, scope)
  return db.all(sql<Adjusted & { until: number }>`select one.* from (
      select id, key, until, 0 as is_whole from (${parts})
      union all select ${scope}, null, (select max(until) from (${parts})), 1
        where not exists (select 1 from (${parts}) where id = ${scope})) as one
      left join settled_lists as adjusted on adjusted.list = ${adjustedName(list)} and adjusted.scope = one.id
    where one.until > coalesce(adjusted.until, 0) order by is_whole`)
}

/** Divides and joins intervals. Those of a scope of parts follow theirs, which are divided before. False where steps end. */
async function adjustAll(db: Database, scope: string, work: SettlingWork): Promise<boolean> {
  const { list, steps } = work
  for (const { until, ...one } of await toAdjust(db, scope, list)) {
    do if (steps.left <= 0) return false
    while (await adjust(db, one, { ...work, areJoined: true }))
    await db.batch([settledUntil(adjustedName(list), one.id, until)])
  }
  return true
}

/** Counts rows of a scope that are some minutes old. True where steps end before. */
async function settleScope(db: Database, scope: string, work: SettlingWork): Promise<boolean> {
  const { horizon, sizes, steps } = work
  const found = await dueParts(db, scope, work)
  const isDue = found.reduce((sum, { due }) => sum + due, 0) > sizes.fewestDue
  for (const part of isDue ? found : [])
    for (let { until } = part; until < horizon;) {
      if (steps.left <= 0) return true
      const scopes = [...new Set([part.id, scope])]
      until = await settleStep(db, { ...part, until }, { ...work, scopes })
      steps.left--
      await giveWay()
      await adjust(db, part, { ...work, areJoined: false })
    }
  return !(await adjustAll(db, scope, work))
}

/** Counts rows of these scopes in bounded steps. Answers those that it came to no end with. */
export async function settleIntervals(
  db: Database,
  list: IntervalList,
  scopes: readonly string[],
  { now, sizes }: { now: number; sizes: IntervalSizes },
): Promise<readonly string[]> {
  const work = {
    list,
    horizon: now - (list.settledAfterMs ?? settledAfterMs),
    sizes,
    steps: { left: sizes.stepsASweep },
  }
  for (const [index, scope] of scopes.entries())
    try {
      if (await settleScope(db, scope, work)) return scopes.slice(index)
    } catch (error) {
      // Another sweep, which is still at work, counts them.
      if (!(error instanceof LostRace)) throw error
    }
  return []
}
