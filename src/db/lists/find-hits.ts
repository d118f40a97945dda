import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../database.ts'
import type { FewSearch, IndexShares } from './find-few.ts'
import { type Found, type ListState, mostHitsOf, readHits } from './list-hits.ts'
import type { ListSource } from './list-source.ts'
import { and, keyColumns, keyName, type OrderKey, orderOf } from './order-keys.ts'
import { ofOwners } from './page-statement.ts'

/** How rows are found that are no orders and no customers themselves. */
interface OfOrders {
  /** Joins them to `orders`. */
  joins: SQL
  /** Condition of those that the search finds without their orders, and of those of them whose orders it does not find. */
  named: SQL
  namedAlone: SQL
}

/** A list with a search, of which `table` has the rows. Its conditions are on columns of this table. */
export type SearchedTable = Pick<ListSource, 'key' | 'where' | 'owners'> & {
  table: SQL
  /** Joins of what conditions and keys name beside the table. */
  judged?: SQL | undefined
  ofOrders?: OfOrders | undefined
}

/** Joins the rows of the list to the keys that the index has. */
const joinedTo = ({ table, key, judged = sql``, ofOrders }: SearchedTable): SQL =>
  ofOrders
    ? sql`cross join orders on orders.seq = found.key ${ofOrders.joins}`
    : sql`cross join ${table} on ${key} = found.key ${judged}`

const isMatch = (source: SearchedTable): SQL => sql`(${and([...ofOwners(source), ...source.where])})`

/** The keys of all rows that may match, each once. */
function candidateKeys({ own, contacts }: FewSearch): SQL {
  const parts = [
    ...(own ? [sql`select rowid as key from ${own.table} where ${own.where}`] : []),
    ...(contacts
      ? [
          sql`select bought.seq as key from ${contacts.table}
            cross join users as buyers on buyers.seq = customers.rowid
            cross join orders as bought on bought.user_id = buyers.id where ${contacts.where}`,
        ]
      : []),
  ]
  return sql.join(parts, sql` union `)
}

/** All rows that may match, found by the index first. */
export function candidates(source: SearchedTable, search: FewSearch): SQL {
  const { table, key, judged = sql``, ofOrders } = source
  const ofIndex = candidateKeys(search)
  const keys = ofOrders
    ? sql`select ${key} as key from (${ofIndex}) as found ${joinedTo(source)}
        union select ${key} from ${table} where ${ofOrders.named}`
    : ofIndex
  return sql`(${keys}) as found cross join ${table} on ${key} = found.key ${judged}`
}

/** What rows that match are read from, each in one of these: the index, or where it has most of the list, the list itself. */
function sourcesOf(source: SearchedTable, { own, contacts, isOwn }: FewSearch, isMost: boolean): SQL[] {
  const { table, judged = sql``, ofOrders } = source
  // As a value of each row: what does not depend on it is read once, and not joined to each.
  const isFound = sql`+${isMatch(source)}`
  if (isMost) return [sql`${table} ${judged} where ${isMatch(source)}`]
  return [
    ...(own
      ? [
          sql`(select rowid as key from ${own.table} where ${own.where}) as found ${joinedTo(source)}
            where ${isFound} and ${isOwn}`,
        ]
      : []),
    ...(contacts
      ? [
          sql`${contacts.table} cross join users as buyers on buyers.seq = customers.rowid
            cross join orders indexed by orders_of_user on orders.user_id = buyers.id ${ofOrders?.joins ?? sql``}
            where ${contacts.where} and ${isFound} and not ${isOwn}`,
        ]
      : []),
    ...(ofOrders ? [sql`${table} where ${ofOrders.namedAlone} and ${isFound}`] : []),
  ]
}

/** Columns of all rows that match. */
const matching = (source: SearchedTable, search: FewSearch, isMost: boolean, columns: SQL): SQL =>
  sql.join(
    sourcesOf(source, search, isMost).map((from) => sql`select ${columns} from ${from}`),
    sql` union all `,
  )

/** Reads all rows that may match. */
export async function countMatches(db: Database, source: SearchedTable, search: FewSearch, isMost = false) {
  const row = await db.first(
    sql<{ n: number }>`select count(*) as n from (${matching(source, search, isMost, source.key)})`,
  )
  return row?.n ?? 0
}

/** From so many entries for one row of the list on, reading the list is cheaper: a row that is found costs two or three. */
const mostOwn = 1 / 2
/** As `mostOwn`, of customers whose orders are looked up. */
const mostContacts = 1 / 6

/**
 * Whether it is cheaper to read the list than what the index finds. Where its first entries stand close together more are
 * counted.
 */
async function isMostOf(db: Database, { own, contacts }: FewSearch, state: ListState, shares: IndexShares) {
  const parts = [
    ...(contacts && shares.contacts >= mostContacts ? [{ entries: contacts, most: mostContacts }] : []),
    ...(own && shares.own >= mostOwn ? [{ entries: own, most: mostOwn }] : []),
  ]
  for (const { entries, most } of parts) {
    const size = sql`(select cast(${state.rows} * ${most} as integer) + 1)`
    const counted = await db.first(sql<{ isMost: number }>`select count(*) = ${size} as isMost
      from (select 1 from ${entries.table} where ${entries.where} limit ${size})`)
    if (counted?.isMost) return true
  }
  return false
}

/** Finds all rows that match, in the order of the list where that can be kept. */
export async function findHits(
  db: Database,
  source: SearchedTable,
  search: FewSearch,
  { state, keys, shares }: { state: ListState; keys: readonly OrderKey[]; shares: IndexShares },
): Promise<Found> {
  const isMost = await isMostOf(db, search, state, shares)
  const named = keys.map(({ desc }, index) => ({ by: keyName(index), desc }))
  const order = state.keepsOrder ? sql`order by ${orderOf(named)} limit ${mostHitsOf(state.keys) + 1}` : sql``
  const columns = sql`${source.key} as key, ${keyColumns(keys.map(({ by }) => by))}`
  const rows = sql`select key from (${matching(source, search, isMost, columns)}) ${order}`
  const found = await readHits(db, state, rows)
  if (!state.keepsOrder || found.total <= mostHitsOf(state.keys)) return found
  return { ...found, total: await countMatches(db, source, search, isMost) }
}
