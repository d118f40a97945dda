import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../database.ts'
import { giveWay } from '../give-way.ts'
import { and } from '../order-keys.ts'
import { settledUntil } from '../settled-until.ts'
import { united } from '../ranges.ts'
import { addToParts, takeFromParts } from './span-parts.ts'
import {
  countedFacets,
  hasScope,
  isOfScope,
  settledAfterMs,
  spanBits,
  type SpannedList,
  totalOf,
  untilOf,
} from './spanned-list.ts'

/** Fewer rows are counted by reading them. */
const fewRows = 200
const rowsAStep = 2500
const stepsASweep = 40

/** Adds rows to the counts of their spans, or takes them from there. `where` is the condition of the rows. */
function changeSpans(list: SpannedList, where: SQL, sign: 1 | -1): SQL {
  const counted = countedFacets(list, where, {
    scope: list.scope,
    span: sql`${list.momentOf(list.key)} >> ${spanBits}`,
  })
  return sql`insert into list_spans (list, scope, span, counts, total)
    with changed (scope, span, facets, n) as materialized
      (select scope, span, facets, ${sql.raw(String(sign))} * n from (${counted}))
    select ${list.name}, scope, span, json_group_object(facets, n), ${totalOf(sql`facets`, sql`n`)} from (
      select scope, span, facets, sum(n) as n from (
        select scope, span, facets, n from changed
        union all
        select spans.scope, spans.span, facet.key, facet.value
          from (select distinct scope, span from changed) as touched
          cross join list_spans as spans on spans.list = ${list.name} and spans.scope = touched.scope
            and spans.span = touched.span
          cross join json_each(spans.counts) as facet)
      group by 1, 2, 3)
    where true group by scope, span
    on conflict (list, scope, span) do update set counts = excluded.counts, total = excluded.total`
}

/** Takes those of these rows from their spans that are counted. Of a list whose rows are counted by a sweep. */
export function takeFromSpans(list: SpannedList, where: SQL): readonly [spans: SQL, parts: SQL] {
  const areCounted = sql`${where} and ${list.key} < ${untilOf(list, list.scope)}`
  return [changeSpans(list, areCounted, -1), takeFromParts(list, areCounted)]
}

/** The key of the row behind so many others in their order; null where there is none. */
async function keyBehind(
  db: Database,
  { table, key, ranges }: SpannedList,
  where: readonly SQL[],
  offset: number,
): Promise<string | number | null> {
  const keys = (range: readonly SQL[]) => sql`select ${key} as key from ${table} where ${and([...range, ...where])}`
  const inOrder = ranges ? united(ranges, keys, sql`key`) : sql`${keys([])} order by key`
  const row = await db.first(sql<{ key: string | number }>`${inOrder} limit 1 offset ${offset}`)
  return row?.key ?? null
}

/** Counts the next rows of a scope. False where few are left, or only young ones. */
async function settleStep(db: Database, list: SpannedList, id: string, now: number): Promise<boolean> {
  const { key } = list
  const scope = sql`${id}`
  const horizon = list.keyAt(now - settledAfterMs)
  const isNext = sql`${key} >= ${untilOf(list, scope)}`
  const due = [hasScope(list, scope), isNext, sql`${key} < ${horizon}`]
  if ((await keyBehind(db, list, due, fewRows)) === null) return false
  const last = await keyBehind(db, list, due, rowsAStep)
  // All rows of one moment are counted together.
  const until = typeof last === 'number' ? last + 1 : (last ?? horizon)
  const settled = and([isOfScope(list, scope), isNext, sql`${key} < ${until}`])
  await db.batch([changeSpans(list, settled, 1), ...addToParts(list, id, until), settledUntil(list.name, id, until)])
  return last !== null
}

/** Counts rows of these scopes in bounded steps. Answers the scopes that it came to no end with. */
export async function settleScopes(
  db: Database,
  list: SpannedList,
  scopes: readonly string[],
  now: number,
): Promise<readonly string[]> {
  let steps = 0
  for (const [index, scope] of scopes.entries())
    while (await settleStep(db, list, scope, now)) {
      if (++steps === stepsASweep) return scopes.slice(index)
      await giveWay()
    }
  return []
}
