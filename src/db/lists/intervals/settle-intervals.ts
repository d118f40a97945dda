import { sql } from 'drizzle-orm'
import { LostRace } from '../../../domain/errors.ts'
import { commitPart, stillHolds } from '../../commit.ts'
import type { Database } from '../../database.ts'
import { isKnown, keyOf, numberOf } from './interval-columns.ts'
import { type IntervalList, momentsOfPart, rowsOfPart, settledPartsOf } from './interval-list.ts'
import {
  addToIntervals,
  deleteNext,
  firstIntervals,
  type Interval,
  intervalColumns,
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
  rowsAStep: 5000,
  stepsASweep: 100,
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
    sql`insert into settled_lists (list, scope, until) values (${list.name}, ${part.id}, ${until})
      on conflict (list, scope) do update set until = excluded.until`,
  ])
  return until
}

/** Divides intervals of too many rows, joins those of few, and counts those anew that do not know all numbers. Each transaction leaves exact counts. */
async function adjust(db: Database, scope: string, { list, sizes, steps }: SettlingWork): Promise<void> {
  const size = sizes.rows
  const total = numberOf(list)
  const found = await db.all(sql<Interval & { is_joined: number }>`
    select ${intervalColumns(list)}, coalesce(total + next < ${0.6 * size}, 0) as is_joined from (
      select scope, ordering, ${keyOf(list)}, ${isKnown(list)} as is_known, ${total} as total,
        lead(${total}) over (partition by ordering order by ${keyOf(list)}) as next
      from ${list.intervals} where scope = ${scope})
    where total > ${2 * size} or is_joined or not is_known limit ${steps.left}`)
  for (const { is_joined, ...interval } of found)
    await db.batch([...(is_joined ? [deleteNext(list, interval)] : []), recountInterval(list, interval, size)])
  steps.left -= found.length
}

/** Counts rows of a scope that are some minutes old. True where more are due than steps are left. */
async function settleScope(db: Database, scope: string, work: SettlingWork): Promise<boolean> {
  const { horizon, sizes, steps } = work
  const found = await dueParts(db, scope, work)
  if (found.reduce((sum, { due }) => sum + due, 0) <= sizes.fewestDue) return false
  for (const part of found)
    for (let { until } = part; until < horizon;) {
      if (steps.left <= 0) return true
      const scopes = [...new Set([part.id, scope])]
      until = await settleStep(db, { ...part, until }, { ...work, scopes })
      steps.left--
      for (const one of scopes) await adjust(db, one, work)
    }
  return false
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
