import { type SQL, sql } from 'drizzle-orm'
import { compareKeys } from '../../domain/text/compare-keys.ts'
import type { Database } from '../database.ts'
import { entryOfOrder, type IndexEntries } from './match-texts.ts'
import type { ListSource } from './list-source.ts'
import { answering, fromJson, type RowOf, selection } from '../select.ts'
import { and, keyColumns, type KeyValues, type OrderKey } from './order-keys.ts'

/** Up to so many rows that may match are read, compared and ordered at once. */
export const mostAtOnce = 500
/** The view `searched_customers` has one order more of a customer. */
const mostOrders = 100

/** An order as the index of customers has it. `contact` is the text of the customer that the order is found by. */
interface BoughtOrder {
  key: number
  created_at: number
  edition_short_id: string
  contact: string
}

/** Orders that are found by texts of their customers. */
export interface ContactSearch {
  /** As `customers`, with `bought`. */
  customers: IndexEntries
  /**
   * Says whether an order matches, in a list that is ordered by creation; null where that takes more than the index of
   * customers has.
   */
  judge: ((order: BoughtOrder) => boolean) | null
}

/** How an index finds the rows of a list. */
export interface IndexSearch {
  /** Rows that may match by texts of their own, under the name of the list's table; null for none. */
  own: IndexEntries | null
  contacts: ContactSearch | null
  /** Says of a row of the list whether `own` has it by its text. */
  isOwn: SQL
  /** The conditions of a row that was found, on columns of the index. */
  where: readonly SQL[]
}

/** A row that matches, with the values of its keys. */
export interface Match {
  key: number
  keys: KeyValues
}

/** Keys as rows of one column. D1 counts them as no rows, and a statement has any number of them. */
export const listedKeys = (keys: readonly number[]): SQL =>
  sql.raw(`(values ${keys.map((key) => `(${key})`).join(', ')})`)

type KeyRow = { key: number; is_match: number } & Record<string, string | number>

const matchOf = (row: KeyRow, keys: readonly OrderKey[]): Match => ({
  key: row.key,
  keys: keys.map((_, index) => row[`k${index}`] ?? 0),
})

interface Searched {
  source: Pick<ListSource, 'key'>
  search: IndexSearch
  keys: readonly OrderKey[]
}

const judged = ({ source, search, keys }: Searched): SQL =>
  sql`${source.key} as key, ${keyColumns(keys.map(({ by }) => by))}, (${and(search.where)}) as is_match`

/** A customer with orders as `searched_customers` has them. */
const customerFields = {
  key: sql<number>`customers.rowid`,
  bought: fromJson<readonly [number, number, string, string][]>(sql`customers.bought`),
}

/** Orders of customers that are not among `seen`; null where they are too many. */
function boughtBy(customers: readonly RowOf<typeof customerFields>[], seen: ReadonlySet<number>): BoughtOrder[] | null {
  const all = customers.flatMap(({ bought }) => bought)
  if (all.length > mostAtOnce || customers.some(({ bought }) => bought.length > mostOrders)) return null
  return all.flatMap(([key, created_at, edition_short_id, contact]) =>
    seen.has(key) ? [] : [{ key, created_at, edition_short_id, contact }],
  )
}

async function matchesOfContacts(
  db: Database,
  searched: Searched,
  { judge }: ContactSearch,
  bought: readonly BoughtOrder[],
): Promise<Match[]> {
  if (judge) return bought.filter(judge).map(({ key, created_at }) => ({ key, keys: [created_at, key] }))
  if (bought.length === 0) return []
  const found = await db.all(sql<KeyRow>`select ${judged(searched)}
    from ${listedKeys(bought.map(({ key }) => key))} as found
      cross join ${entryOfOrder(sql`found.column1`)}`)
  return found.flatMap((row) => (row.is_match === 1 ? [matchOf(row, searched.keys)] : []))
}

/** What the first entries of an index say. */
export interface Few {
  /** All rows of the list that match, in its order; null where more may match than are read at once. */
  matches: Match[] | null
  /** Of each index: how close its first entries stand together. */
  shares: IndexShares
}

/** The share of the rows between the first and the last of these entries that are among them; 0 of few entries. */
export interface IndexShares {
  own: number
  contacts: number
}

function shareOf(entries: readonly { key: number }[]): number {
  const [first, last] = [entries[0], entries.at(-1)]
  return first && last && entries.length > mostAtOnce ? entries.length / (last.key - first.key + 1) : 0
}

/** Reads the first entries of the index, and orders the rows that match where these are all. */
export async function findFew(db: Database, searched: Searched): Promise<Few> {
  const { own, contacts } = searched.search
  const limit = sql`limit ${mostAtOnce + 1}`
  const { rows = [], customers = [] } = await db.batchNamed({
    rows: own && sql<KeyRow>`select ${judged(searched)} from ${own.table} where ${own.where} ${limit}`,
    customers:
      contacts &&
      answering(
        customerFields,
        sql<RowOf<typeof customerFields>>`select ${selection(customerFields)}
          from ${contacts.customers.table} where ${contacts.customers.where} ${limit}`,
      ),
  })
  const shares = { own: shareOf(rows), contacts: shareOf(customers) }
  const bought = boughtBy(customers, new Set(rows.map(({ key }) => key)))
  if (rows.length > mostAtOnce || customers.length > mostAtOnce || !bought) return { matches: null, shares }
  const matches = rows.flatMap((row) => (row.is_match === 1 ? [matchOf(row, searched.keys)] : []))
  if (contacts) matches.push(...(await matchesOfContacts(db, searched, contacts, bought)))
  return { matches: matches.toSorted((a, b) => compareKeys(a.keys, b.keys, searched.keys)), shares }
}
