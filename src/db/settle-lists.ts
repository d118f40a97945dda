import type { Database } from './database.ts'
import type { IntervalList } from './lists/intervals/interval-list.ts'
import { nextInterval, recountOfInterval } from './lists/intervals/recount-intervals.ts'
import { type LongOrganizations, longOrganizations } from './lists/intervals/scopes-of-intervals.ts'
import { type IntervalSizes, settleIntervals } from './lists/intervals/settle-intervals.ts'
import { nextSpan, recountOf } from './lists/spans/recount-spans.ts'
import { settleScopes } from './lists/spans/settle-spans.ts'
import type { ListSpan, SpannedList } from './lists/spans/spanned-list.ts'
import { checkAtNight } from './sweeps/nightly.ts'
import { findSweepPosition, sweepPositionStatement } from './sweeps/sweep-positions.ts'

const scopesASweep = 10

interface Job {
  db: Database
  now: () => number
}

interface ScopesOfSweep {
  name: string
  /** So many at once, where these are not ten. */
  scopes?: number
  /** Answers at most so many scopes from the given one on, in their order. */
  findNext: (from: string, most: number) => Promise<readonly string[]>
  /** Works on some scopes. Answers those that it came to no end with. */
  settle: (scopes: readonly string[]) => Promise<readonly string[]>
}

/** Works on the next scopes. A sweep goes on where the one before ended. */
export async function sweepScopes(
  { db, now }: Job,
  { name, scopes = scopesASweep, findNext, settle }: ScopesOfSweep,
): Promise<void> {
  const from = (await findSweepPosition(db, name))?.after ?? ''
  const found = await findNext(from, scopes + 1)
  const [left] = await settle(found.slice(0, scopes))
  const after = left ?? found[scopes] ?? ''
  if (after !== from) await db.batch([sweepPositionStatement(name, { after, begun_at: now() })])
}

/** Counts rows of the next scopes. */
export const settleNext = (job: Job, list: SpannedList, findNext: ScopesOfSweep['findNext']): Promise<void> =>
  sweepScopes(job, {
    name: `settle ${list.name}`,
    findNext,
    settle: (scopes) => settleScopes(job.db, list, scopes, job.now()),
  })

interface IntervalsOfSweep {
  name: string
  columns: LongOrganizations['columns']
  sizes: IntervalSizes
  /** Those of some organisations that have many rows, where `list_sizes` does not say so. */
  chooseLong?: (organizations: readonly string[]) => Promise<readonly string[]>
}

/** Counts rows of the next of some scopes in intervals. */
export const settleNextScopes = (
  job: Job,
  list: IntervalList,
  { sizes, ...scopes }: Pick<ScopesOfSweep, 'name' | 'findNext'> & { sizes: IntervalSizes },
): Promise<void> =>
  sweepScopes(job, {
    ...scopes,
    settle: (found) => settleIntervals(job.db, list, found, { now: job.now(), sizes }),
  })

/** Counts rows of the next organisations with many of them in intervals. */
export function settleNextIntervals(job: Job, list: IntervalList, sweep: IntervalsOfSweep): Promise<void> {
  const { name, columns, sizes, chooseLong } = sweep
  const fewest = sizes.fewestRows
  return sweepScopes(job, {
    name,
    findNext: (from, most) => longOrganizations(job.db, from, { most, columns, fewest }),
    settle: async (found) =>
      settleIntervals(job.db, list, chooseLong ? await chooseLong(found) : found, { now: job.now(), sizes }),
  })
}

const keyOf = ({ scope, span }: ListSpan): string => `${scope} ${span}`

function spanOf(place: string): ListSpan {
  const [scope = '', span = '-1'] = place.split(' ')
  return { scope, span: Number(span) }
}

/** Counts spans anew, each night the next ones. */
export const recountNext = (job: Job, list: SpannedList): Promise<void> =>
  checkAtNight(job, {
    name: `recount ${list.name}`,
    fault: `Counts of ${list.name} were wrong and are repaired`,
    findNext: (after) => job.db.first(nextSpan(list, spanOf(after))),
    placeOf: keyOf,
    repair: async (span, position) => {
      const { repairs, counted } = recountOf(list, span, job.now())
      const [[found], , ...repaired] = await job.db.batch([counted, position, ...repairs])
      const isRepaired = repaired.flat().some(({ total }) => total !== 0)
      return { wrong: isRepaired ? [keyOf(span)] : [], rows: found?.n ?? 0 }
    },
  })

/** Counts intervals anew, each night the next ones. `name` is that of the sweep. */
export const recountNextIntervals = (job: Job, list: IntervalList, name: string): Promise<void> =>
  checkAtNight(job, {
    name,
    fault: 'Counts of intervals were wrong and are repaired',
    findNext: (after) => job.db.first(nextInterval(list, after)),
    placeOf: ({ place }) => place,
    repair: async (interval, position) => {
      const [[before], [repaired]] = await job.db.batch([...recountOfInterval(list, interval), position])
      // Numbers that were not known were not wrong.
      const isRepaired = !!repaired && (before?.is_known === 1 || before?.counts !== repaired.counts)
      return { wrong: isRepaired ? [interval.place] : [], rows: interval.total }
    },
  })
