import { type SQL, sql } from 'drizzle-orm'
import { and } from './order-keys.ts'

interface IndexedValues {
  /** The table, and the index that has the values behind what `where` compares. */
  from: SQL
  value: SQL
  where: readonly SQL[]
  /** The first value begins with this. */
  begin?: string | undefined
  /** What the next value behind one is not less than; all are asked for without it. */
  nextFrom?: ((value: SQL) => SQL) | undefined
}

/** What is not less than this is greater than the value: none has such a character. */
export const behind = (value: SQL): SQL => sql`${value} || char(1)`

/** A query of the values that rows have, `id`, and which may have a condition more. The index leads from one to the next. */
export function valuesOfIndex({ from, value, where, begin, nextFrom = behind }: IndexedValues): SQL {
  const least = (...more: SQL[]): SQL =>
    sql`(select min(${value}) from ${from} where ${and([
      ...where,
      ...(begin === undefined ? [] : [sql`${value} < ${`${begin}!`}`]),
      ...more,
    ])})`
  const first = begin === undefined ? [] : [sql`${value} >= ${`${begin} `}`]
  return sql`with recursive had (id) as (
      select ${least(...first)} union all select ${least(sql`${value} >= ${nextFrom(sql`had.id`)}`)} from had where id is not null)
    select id from had where id is not null`
}
