import { type SQL, sql } from 'drizzle-orm'
import { purchases } from '../../db/schema/sales/orders.ts'
import { shortIdOfEdition } from '../../db/short-ids.ts'
import { numberKey } from '../../domain/orders/orders.ts'

/** The codes of an edition that begin with the text, as a range of the index. */
const codesFrom = (editionId: string, text: string): SQL =>
  sql`purchases.edition_short_id = ${shortIdOfEdition(editionId)}
    and purchases.vendor_code >= ${text} collate nocase and purchases.vendor_code < ${`${text}\u{10FFFF}`} collate nocase`

const ordersOf = (editionId: string, text: string): SQL =>
  sql`select id from orders where edition_id = ${editionId} and number_key = ${numberKey(text)}
    union select id from orders where id = ${text}`

/** Conditions that indexes look up first, so that no other purchase is read. */
export const isFoundBy = (editionId: string, text: string): SQL =>
  sql`purchases.id in (select id from purchases where ${codesFrom(editionId, text)}
    union select id from purchases where id = ${text}
    union select id from purchases where order_id in (${ordersOf(editionId, text)}))`

export const sortKeys = { created: sql`${purchases.created_at}` }
