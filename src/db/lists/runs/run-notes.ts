import { type SQL, sql } from 'drizzle-orm'
import { readBy } from '../page-statement.ts'
import { columnIn, keyIn, ofFacets, type RunList, scopeIn } from './run-list.ts'

/** Where the rows of an edition begin that are not in its runs as they are: a value that makes rows young, and a number of a note. */
interface Since {
  id: SQL
  until: SQL
  late: SQL
}

/** Rows of an edition that are young from a value on: the end of a `from`, and its condition. */
export const youngIn = (list: RunList, { id, until }: Omit<Since, 'late'>): { from: SQL; where: SQL } => ({
  from: readBy({ from: list.table, index: list.young.index?.index }),
  where: sql`${columnIn(list, list.scope)} = ${id} and ${list.young.index ? ofFacets(list, list.young.index) : sql`1`}
    and ${columnIn(list, list.young.column)} >= ${until}`,
})

/** The same of rows that are noted behind a number. */
export const notedIn = (list: RunList, { id, late }: Omit<Since, 'until'>): { from: SQL; where: SQL } => ({
  from: sql`${list.late} as noted`,
  where: sql`${scopeIn(list, 'noted')} = ${id} and noted.number > ${late}`,
})

/** The keys of all rows of an edition that its runs may have otherwise than they are. */
export function changedSince(list: RunList, since: Since): SQL {
  const [young, noted] = [youngIn(list, since), notedIn(list, since)]
  return sql`select ${columnIn(list, list.key)} as key from ${young.from} where ${young.where}
    union select ${keyIn(list, 'noted')} from ${noted.from} where ${noted.where}`
}

/** The numbers of the last notes of some editions. */
export const newestNotes = (list: RunList, editions: SQL): SQL<{ edition: string; late: number }> =>
  sql`select one.id as edition, coalesce((select max(number) from ${list.late} as noted
      where ${scopeIn(list, 'noted')} = one.id), 0) as late
    from (${list.scopesOf(editions)}) as one`

/** As `newestNotes`, where they are not asked for. */
export const noNotes = sql<{ edition: string; late: number }>`select null as edition, 0 as late limit 0`

/** Whether nothing was noted in editions since: rows that runs had as they were are still so. */
export const isUnnoted = (list: RunList, notes: ReadonlyMap<string, number>): SQL =>
  sql.join(
    [...notes].map(
      ([edition, late]) =>
        sql`not exists (select 1 from ${list.late} as noted
          where ${notedIn(list, { id: sql`${edition}`, late: sql`${late}` }).where})`,
    ),
    sql` and `,
  )
