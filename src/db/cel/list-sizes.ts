import { type SQL, sql } from 'drizzle-orm'
import { type ListSizes, maxCombinations, type MeanSizes, noLists } from '../../domain/cel/index.ts'
import { isNumbers, isRecord, readJson } from '../../domain/text/json.ts'
import type { Database } from '../database.ts'

/** Lengths of the lists that the people of an organisation have. */
export interface KnownSizes {
  most: ListSizes
  mean: MeanSizes
}

interface ListSizesRow extends ListSizes {
  people: number
  all_orders: number
  all_purchases: number
}

const names = ['orders', 'purchases', 'campaigns', 'options', 'user_metadata', 'order_metadata'] as const
const totals = ['people', 'all_orders', 'all_purchases'] as const

/** The row of the organisation as JSON, as a column; null before anything was added. */
export const listSizesOf = (organizationId: SQL): SQL =>
  sql`(select json_object(${sql.raw([...names, ...totals].map((name) => `'${name}', ${name}`).join(', '))})
    from list_sizes where list_sizes.organization_id = ${organizationId})`

const isSizes = (value: unknown): value is Partial<ListSizesRow> => isRecord(value) && isNumbers(Object.values(value))

export function readListSizes(json: string | null): KnownSizes {
  const row = {
    ...noLists,
    people: 0,
    all_orders: 0,
    all_purchases: 0,
    ...readJson(json ?? '{}', isSizes),
  }
  const { people, all_orders, all_purchases, ...most } = row
  const mean = (total: number, largest: number) => Math.min(largest, total / Math.max(1, people))
  return { most, mean: { orders: mean(all_orders, most.orders), purchases: mean(all_purchases, most.purchases) } }
}

export async function findListSizes(db: Database, organizationId: string): Promise<KnownSizes> {
  const row = await db.first(sql<{ sizes: string | null }>`select ${listSizesOf(sql`${organizationId}`)} as sizes`)
  return readListSizes(row?.sizes ?? null)
}

/** What a transaction adds to the lists of an organisation. */
export interface ListGrowth {
  /** Whose orders or purchases become more, and are counted where they stand. */
  users: readonly string[]
  /** The most orders, and the most purchases, that others have from now on. */
  longest: { orders: number; purchases: number }
  orders: number
  purchases: number
  people: number
  /** The longest that are added. */
  options: number
  user_metadata: number
  order_metadata: number
}

/** The largest size that is expected: no list may be inside a longer one. */
const owned = (table: string): SQL =>
  sql`(select count(*) from (select 1 from ${sql.raw(table)} where user_id = value limit ${maxCombinations}))`

const largest = (columns: readonly string[]): SQL =>
  sql.raw(columns.map((name) => `${name} = max(${name}, excluded.${name})`).join(', '))
const added = (columns: readonly string[]): SQL =>
  sql.raw(columns.map((name) => `${name} = ${name} + excluded.${name}`).join(', '))

/** Raises the lengths; for the end of the transaction that adds the rows, because it counts them. */
export const growLists = (organizationId: string, growth: ListGrowth): SQL =>
  sql`insert into list_sizes (organization_id, orders, purchases, options, user_metadata, order_metadata, people,
      all_orders, all_purchases)
    select ${organizationId}, max(coalesce(max(${owned('orders')}), 0), ${growth.longest.orders}),
      max(coalesce(max(${owned('purchases')}), 0), ${growth.longest.purchases}),
      ${growth.options}, ${growth.user_metadata}, ${growth.order_metadata}, ${growth.people}, ${growth.orders},
      ${growth.purchases}
    from json_each(${JSON.stringify(growth.users)}) where true
    on conflict (organization_id) do update set
      ${largest(names.filter((name) => name !== 'campaigns'))}, ${added(totals)}`

/** Lowers the totals by rows that are deleted. The longest lists stay as they were: they may be too high. */
export const shrinkLists = (organizationId: string, gone: { orders: number; purchases: number; people: number }): SQL =>
  sql`update list_sizes set all_orders = all_orders - ${gone.orders}, all_purchases = all_purchases - ${gone.purchases},
    people = people - ${gone.people} where organization_id = ${organizationId}`

/** Notes that the organisation has a further campaign, which each of its people may receive once. */
export const growCampaigns = (organizationId: string): SQL =>
  sql`insert into list_sizes (organization_id, campaigns) values (${organizationId}, 1)
    on conflict (organization_id) do update set campaigns = campaigns + 1`
