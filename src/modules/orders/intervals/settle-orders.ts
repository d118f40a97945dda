import { type SQL, sql } from 'drizzle-orm'
import { commitPart, stillHolds } from '../../../db/commit.ts'
import type { Database } from '../../../db/database.ts'
import { orders } from '../../../db/schema/sales/orders.ts'
import { LostRace } from '../../../domain/errors.ts'
import { ordersInSpan } from '../counts/spans.ts'
import { firstKey, intervalOrderings, keyNames } from './interval-orderings.ts'
import { editionsOf } from './scopes.ts'
import { addToIntervals, deleteNext, type Interval, recountInterval } from './write-intervals.ts'

export interface IntervalSizes {
  /** Organisations with fewer orders have no intervals. */
  fewestOrders: number
  /** Fewer orders that are due are read one by one. */
  fewestDue: number
  ordersAStep: number
  /** Transactions. */
  stepsASweep: number
  /** Of a new interval. One of more than twice as many is divided, and two are joined that have few more than a half together. */
  orders: number
}

export const intervalSizes: IntervalSizes = {
  fewestOrders: 20_000,
  fewestDue: 100,
  ordersAStep: 5000,
  stepsASweep: 100,
  orders: 750,
}

/** Few orders change later. One that does is exact at once, and writes more. */
const settledAfterMs = 120_000

/** Organisations with many orders, from this one on. The orders of an import wait for its end: it may be undone, too. */
export const longOrganizations = async (
  db: Database,
  from: string,
  { most, sizes }: { most: number; sizes: IntervalSizes },
) =>
  (
    await db.all(sql<{ id: string }>`select organization_id as id from list_sizes
      where organization_id >= ${from} and all_orders >= ${sizes.fewestOrders}
        and not exists (select 1 from data_imports where data_imports.organization_id = list_sizes.organization_id
          and phase is not null and phase in ('import', 'undo'))
      order by organization_id limit ${most}`)
  ).map(({ id }) => id)

interface SettlingWork {
  /** Orders that were changed before this moment are due. */
  horizon: number
  sizes: IntervalSizes
  steps: { left: number }
}

interface DueEdition {
  id: string
  short_id: string
  until: number
  due: number
}

/** The editions of an organisation with orders that are due. */
const dueEditions = (db: Database, organization: string, { horizon, sizes }: SettlingWork) =>
  db.all(sql<DueEdition>`select * from (select edition.*, (select count(*) from (select 1 from ${orders} indexed by orders_edition_modified
        where ${orders}.edition_short_id = edition.short_id and ${orders.modified_at} >= edition.until
          and ${orders.modified_at} < ${horizon} limit ${sizes.fewestDue + 1})) as due
      from (${editionsOf(organization)}) as edition)
    where due > 0`)

const firstIntervals = (scopes: readonly string[]): SQL[] =>
  Object.values(intervalOrderings).map((by) => {
    const { value, created_at, seq } = firstKey(by)
    return sql`insert into order_intervals (scope, ordering, ${keyNames})
      select value, ${by.name}, ${value}, ${created_at}, ${seq} from json_each(${JSON.stringify(scopes)}) where true
      on conflict do nothing`
  })

/** Counts the next orders of an edition. Orders that are changed meanwhile are counted by triggers. */
async function settleStep(
  db: Database,
  edition: DueEdition,
  { scopes, horizon, sizes }: SettlingWork & { scopes: readonly string[] },
): Promise<number> {
  const ofEdition = sql`${orders}.edition_short_id = ${edition.short_id} and ${orders.modified_at} >= ${edition.until}`
  const last = await db.first(sql<{
    at: number
  }>`select ${orders.modified_at} as at from ${orders} indexed by orders_edition_modified
    where ${ofEdition} and ${orders.modified_at} < ${horizon} order by ${orders.modified_at} limit 1 offset ${sizes.ordersAStep}`)
  // All orders of one moment are counted together.
  const until = last ? last.at + 1 : horizon
  await commitPart({ db }, [
    stillHolds(
      sql`coalesce((select until from settled_lists where list = 'orders' and scope = ${edition.id}), 0) = ${edition.until}`,
    ),
    ...firstIntervals(scopes),
    addToIntervals(scopes, sql`${ofEdition} and ${orders.modified_at} < ${until}`),
    sql`insert into settled_lists (list, scope, until) values ('orders', ${edition.id}, ${until})
      on conflict (list, scope) do update set until = excluded.until`,
  ])
  return until
}

/** Divides intervals of too many orders, and joins those of few. Each transaction leaves exact counts. */
async function adjust(db: Database, scope: string, { sizes, steps }: SettlingWork): Promise<void> {
  const size = sizes.orders
  const total = ordersInSpan()
  const found = await db.all(sql<Interval & { is_joined: number }>`
    select scope, ordering, ${keyNames}, total <= ${2 * size} as is_joined from (
      select scope, ordering, ${keyNames}, ${total} as total,
        lead(${total}) over (partition by ordering order by ${keyNames}) as next
      from order_intervals where scope = ${scope})
    where total > ${2 * size} or total + next < ${0.6 * size} limit ${steps.left}`)
  for (const { is_joined, ...interval } of found)
    await db.batch([...(is_joined ? [deleteNext(interval)] : []), recountInterval(interval, size)])
  steps.left -= found.length
}

/** Counts orders of an organisation that are some minutes old. True where more are due than steps are left. */
async function settleOrganization(db: Database, organization: string, work: SettlingWork): Promise<boolean> {
  const { horizon, sizes, steps } = work
  const found = await dueEditions(db, organization, work)
  if (found.reduce((sum, { due }) => sum + due, 0) <= sizes.fewestDue) return false
  for (const edition of found)
    for (let { until } = edition; until < horizon;) {
      if (steps.left <= 0) return true
      const scopes = [edition.id, organization]
      until = await settleStep(db, { ...edition, until }, { ...work, scopes })
      steps.left--
      for (const scope of scopes) await adjust(db, scope, work)
    }
  return false
}

/** Counts orders of these organisations in bounded steps. Answers those that it came to no end with. */
export async function settleOrganizations(
  db: Database,
  organizations: readonly string[],
  { now, sizes }: { now: number; sizes: IntervalSizes },
): Promise<readonly string[]> {
  const work = { horizon: now - settledAfterMs, sizes, steps: { left: sizes.stepsASweep } }
  for (const [index, organization] of organizations.entries())
    try {
      if (await settleOrganization(db, organization, work)) return organizations.slice(index)
    } catch (error) {
      // Another sweep, which is still at work, counts them.
      if (!(error instanceof LostRace)) throw error
    }
  return []
}
