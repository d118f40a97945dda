import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { commitPart, stillHolds } from '../../../db/commit.ts'
import type { Database } from '../../../db/database.ts'
import { written } from '../../../db/edition-counts.ts'
import { settledUntil } from '../../../db/lists/settled-until.ts'
import { settledAfterMs } from '../../../db/lists/spans/spanned-list.ts'
import { inAnyRange } from '../../../db/lists/ranges.ts'
import { LostRace } from '../../../domain/errors.ts'
import { createdAt, rangesOfKinds } from './spans.ts'

/** As `settled_lists` names it. */
const packedList = 'delivery_packs'

export const packSizes = {
  /** Deliveries of an endpoint with fewer are not packed. */
  fewestRows: 5000,
  /** Fewer that are due are read one by one. */
  fewestDue: 100,
  rowsAStep: 5000,
  /** Transactions. */
  stepsASweep: 100,
  /** Of a pack. */
  rows: 512,
}
type PackSizes = typeof packSizes

/** Up to which moment deliveries of an endpoint are packed. */
export const packedUntil = (endpoint: string): SQL =>
  sql`coalesce((select until from settled_lists where list = ${packedList} and scope = ${endpoint}), 0)`

/** Deliveries of an endpoint, in no order, that meet conditions on the moment of creation. */
export const byMoment = (endpoint: string, condition: SQL): SQL =>
  sql`webhook_deliveries indexed by webhook_deliveries_of_endpoint
    where webhook_deliveries.endpoint_id = ${endpoint} and ${inAnyRange(rangesOfKinds)} and ${condition}`

/** Appends deliveries of a range of time to the last packs of their editions and kinds. */
function packStatement(endpoint: string, { from, until }: { from: number; until: number }, rows: number): SQL {
  const size = written(rows)
  const last = sql`from delivery_packs as former where former.endpoint_id = ${endpoint} and former.edition_id = groups.edition_id
    and former.kind = groups.kind order by former.first_created_at desc, former.number desc limit 1`
  return sql`insert into delivery_packs (endpoint_id, edition_id, kind, first_created_at, number, size, entries)
    with due as materialized (
      select edition_id, due.kind, due.created_at, due.id
      from (select event_id, kind, created_at, id
          from ${byMoment(endpoint, sql`${createdAt} >= ${from} and ${createdAt} < ${until}`)}) as due
        cross join webhook_events on webhook_events.id = due.event_id and edition_id is not null),
    groups as (select distinct edition_id, kind from due),
    last as materialized (
      select packs.* from groups cross join delivery_packs as packs on packs.endpoint_id = ${endpoint}
        and packs.edition_id = groups.edition_id and packs.kind = groups.kind
        and (packs.first_created_at, packs.number) = (select former.first_created_at, former.number ${last})),
    entries as (
      select edition_id, kind, value ->> 1 as created_at, value ->> 0 as id from last cross join json_each(last.entries)
        where last.size < ${size}
      union all select * from due),
    numbered as (
      select *, (row_number() over (partition by edition_id, kind order by created_at, id) - 1) / ${size} as pack from entries)
    select ${endpoint}, edition_id, kind, min(created_at),
      pack + coalesce((select number + (size >= ${size}) from last
        where last.edition_id = numbered.edition_id and last.kind = numbered.kind), 0),
      count(*), json_group_array(json_array(id, created_at))
    from numbered where true group by edition_id, kind, pack
    on conflict do update set size = excluded.size, entries = excluded.entries`
}

/** Packs the next deliveries of an endpoint. True where more are due than steps are left. */
async function packEndpoint(
  db: Database,
  endpoint: string,
  { horizon, sizes, steps }: { horizon: number; sizes: PackSizes; steps: { left: number } },
): Promise<boolean> {
  const areDue = (from: SQL): SQL => byMoment(endpoint, sql`${createdAt} >= ${from} and ${createdAt} < ${horizon}`)
  const begin = await db.first(sql<{ until: number; due: number }>`select ${packedUntil(endpoint)} as until,
    (select count(*) from (select 1 from ${areDue(packedUntil(endpoint))} limit ${sizes.fewestDue + 1})) as due`)
  if (!begin || begin.due <= sizes.fewestDue) return false
  for (let from = begin.until; from < horizon; steps.left--) {
    if (steps.left <= 0) return true
    const last = await db.first(sql<{ at: number }>`select ${createdAt} as at from ${areDue(sql`${from}`)}
      order by ${createdAt} limit 1 offset ${sizes.rowsAStep}`)
    // All of one moment are packed together.
    const until = last ? last.at + 1 : horizon
    await commitPart({ db }, [
      stillHolds(sql`${packedUntil(endpoint)} = ${from}`),
      packStatement(endpoint, { from, until }, sizes.rows),
      settledUntil(packedList, endpoint, until),
    ])
    from = until
  }
  return false
}

/** Packs deliveries of endpoints in bounded steps. Answers the endpoints that it came to no end with. */
export async function packEndpoints(
  { db, now }: Pick<JobCtx, 'db' | 'now'>,
  endpoints: readonly string[],
  sizes: PackSizes,
): Promise<readonly string[]> {
  const work = { horizon: now() - settledAfterMs, sizes, steps: { left: sizes.stepsASweep } }
  for (const [index, endpoint] of endpoints.entries())
    try {
      if (await packEndpoint(db, endpoint, work)) return endpoints.slice(index)
    } catch (error) {
      // Another sweep, which is still at work, packs them.
      if (!(error instanceof LostRace)) throw error
    }
  return []
}

/** Deletes the oldest packs of deliveries that are about to be deleted, where nothing else is left in them. */
export const takeEmptyPacks = (areGone: SQL): SQL => sql`delete from delivery_packs
  where (endpoint_id, edition_id, kind, first_created_at, number) in (
    select packs.endpoint_id, packs.edition_id, packs.kind, packs.first_created_at, packs.number
    from (select distinct endpoint_id, webhook_deliveries.kind, edition_id
        from webhook_deliveries cross join webhook_events on webhook_events.id = event_id and edition_id is not null
        where ${areGone}) as gone
      cross join delivery_packs as packs on packs.endpoint_id = gone.endpoint_id and packs.edition_id = gone.edition_id
        and packs.kind = gone.kind and (packs.first_created_at, packs.number) = (
          select first_created_at, number from delivery_packs as former
          where former.endpoint_id = gone.endpoint_id and former.edition_id = gone.edition_id and former.kind = gone.kind
          order by first_created_at, number limit 1)
    where not exists (select 1 from json_each(packs.entries) as entry
      cross join webhook_deliveries on webhook_deliveries.id = entry.value ->> 0 where not (${areGone})))`
