import { type SQL, sql } from 'drizzle-orm'
import { dayMs } from '../../../domain/time/instants.ts'
import type { Database } from '../../database.ts'
import { inList } from '../../visibility.ts'
import { columnIn, haveOwners, type RunList, scopeIn } from './run-list.ts'
import { notedIn, youngIn } from './run-notes.ts'
import type { RunSizes } from './run-sizes.ts'
import type { State } from './write-chunk.ts'

export interface RunSweep {
  now: number
  sizes: RunSizes
}

interface DueWork {
  db: Database
  list: RunList
  now: number
}

/** Whether main runs have had values of people for a day that are no longer stored otherwise: of the row `state`. */
export const haveFormer = (list: RunList, now: number): SQL =>
  list.arePersonal
    ? sql`case when state.walked_at > ${now - dayMs} then 0 else exists (select 1 from ${list.late} as former
        where ${scopeIn(list, 'former')} = ${scopeIn(list, 'state')} and former.is_personal = 1 and former.number > state.main_late) end`
    : sql`0`

/** The number of rows of the row `state` that are due, up to some of each kind. */
function dueOf(list: RunList, now: number, most: number): SQL {
  const id = scopeIn(list, 'state')
  const [young, noted] = [youngIn(list, { id, until: sql`state.until` }), notedIn(list, { id, late: sql`state.late` })]
  return sql`((select count(*) from (select 1 from ${young.from}
      where ${young.where} and ${columnIn(list, list.young.column)} < ${list.young.horizon(id, now)} limit ${most}))
    + (select count(*) from (select 1 from ${noted.from} where ${noted.where} limit ${most})))`
}

export async function dueRows({ db, list, now }: DueWork, { id }: State, most: number): Promise<number> {
  const found = await db.first(sql<{ n: number }>`select ${dueOf(list, now, most)} as n
    from ${list.states} as state where ${scopeIn(list, 'state')} = ${id}`)
  return found?.n ?? 0
}

/** Those of some editions with a state of which anything is to be built. */
export const dueEditions = async (
  db: Database,
  list: RunList,
  ids: readonly string[],
  { now, sizes }: RunSweep,
): Promise<readonly string[]> =>
  (
    await db.all(sql<{ id: string }>`select ${scopeIn(list, 'state')} as id from ${list.states} as state
      where ${inList(scopeIn(list, 'state'), ids)} and (generation = 0 or walk is not null or not ${haveOwners(list)} or ${haveFormer(list, now)}
        or ${dueOf(list, now, sizes.fewestDue + 1)} > ${sizes.fewestDue})
      order by id`)
  ).map(({ id }) => id)

/** Whether a main run is too far behind. */
export const isOld = (
  { main_size, delta_size }: State,
  due: number,
  { fewestInDelta, mostInDelta }: RunSizes,
): boolean => delta_size + due > Math.min(mostInDelta, Math.max(fewestInDelta, main_size / 16))
