import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { matchingRow, type IndexSearch, mostAtOnce } from '../../db/lists/find-few.ts'
import { and } from '../../db/lists/order-keys.ts'
import { ofKinds } from '../../db/order-kinds.ts'
import { boughtIn } from '../../db/purchases.ts'
import { purchases } from '../../db/schema/sales/orders.ts'
import { shortIdOfEdition } from '../../db/short-ids.ts'
import { numberKey } from '../../domain/orders/orders.ts'

/** The codes of an edition that begin with the text, as a range of the index. */
const codesFrom = (editionId: string, text: string): SQL =>
  sql`purchases.edition_short_id = ${shortIdOfEdition(editionId)}
    and purchases.vendor_code >= ${text} collate nocase and purchases.vendor_code < ${`${text}\u{10FFFF}`} collate nocase`

const ordersOf = (editionId: string, text: string): SQL =>
  sql`select id from orders where edition_short_id = ${shortIdOfEdition(editionId)} and ${ofKinds({})}
      and number_key = ${numberKey(text)}
    union select id from orders where id = ${text}`

/** Conditions that indexes look up first, so that no other purchase is read. */
export const isFoundBy = (editionId: string, text: string): SQL =>
  sql`purchases.id in (select id from purchases where ${codesFrom(editionId, text)}
    union select id from purchases where id = ${text}
    union select id from ${boughtIn(ordersOf(editionId, text))})`

export const sortKeys = { created: sql`${purchases.created_at}` }

interface FoundPurchase {
  id: string
  created_at: number
  is_listed: number
}

/** Reads each purchase that a search finds once: its code, its id or its order. `where` is on columns of `purchases`. */
export const searchOf = (editionId: string, text: string, where: readonly SQL[]): Pick<IndexSearch, 'readFew'> => ({
  readFew: async (db: Database) => {
    const limit = sql`limit ${mostAtOnce + 1}`
    const from = (table: SQL, condition: SQL) =>
      sql<FoundPurchase>`select id, created_at, (${and(where)}) as is_listed from ${table} where ${condition} ${limit}`
    const found = await db.batch([
      from(sql`purchases indexed by purchases_edition_code`, codesFrom(editionId, text)),
      from(sql`purchases`, sql`id = ${text}`),
      from(sql`${boughtIn(ordersOf(editionId, text))} as purchases`, sql`1`),
    ])
    if (found.some(({ length }) => length > mostAtOnce)) return { own: [], rows: null }
    const listed = found.flat().filter(({ is_listed }) => is_listed)
    const rows = new Map(listed.map((one) => [one.id, one]))
    return {
      own: [],
      rows: [...rows.values()].map(({ id, created_at }) => matchingRow(id, sortKeys, { created: created_at })),
    }
  },
})
