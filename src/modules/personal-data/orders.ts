import { eq, sql } from 'drizzle-orm'
import type { Database, Statement } from '../../db/database.ts'
import { orders } from '../../db/schema/orders.ts'
import { rebuildOrderText } from '../../db/search.ts'
import { update } from '../../db/write.ts'
import { containsContactInWord, type ErasedContacts } from '../../domain/erasure.ts'
import { hashOrderId, isErasedOrderId } from '../../domain/orders/erased-order-ids.ts'

/** The columns of an order, its payments and its tickets that `buildOrderErasure` erases. */
export const orderColumns = [
  'orders.metadata',
  'orders.imported_address',
  'orders.external_id',
  'orders.order_number',
  'orders.number_folded',
  'orders.number_key',
  'orders.cart',
  'orders.search_text',
  'transactions.provider_reference',
  'purchases.vendor_code',
]

interface OrderTexts {
  id: string
  edition_id: string
  erasure_key: string
  order_number: string | null
  external_id: string | null
  coupon_code: string | null
}

interface CodeRow {
  id: string
  text: string
}

/** Orders of the person, and orders with a ticket that the person holds. */
const selectOrderIds = (userId: string) => sql`(select id from orders where user_id = ${userId}
  union select order_id from purchases where user_id = ${userId})`

function eraseOrderTexts(order: OrderTexts, contacts: ErasedContacts): Statement[] {
  const { id, edition_id, erasure_key, order_number, external_id, coupon_code } = order
  const isTheirs = (text: string | null): text is string => text !== null && containsContactInWord(text, contacts)
  const erasedId =
    isTheirs(external_id) && !isErasedOrderId(external_id) ? hashOrderId(erasure_key, edition_id, external_id) : null
  const hasTheirNumber = isTheirs(order_number)
  const number = hasTheirNumber ? { order_number: null, number_folded: '', number_key: null } : {}
  const texts = { id, order_number: hasTheirNumber ? null : order_number, external_id: erasedId ?? external_id }
  return [
    ...(erasedId !== null || hasTheirNumber
      ? [update(orders, { ...number, ...texts, search_text: rebuildOrderText(texts) }, eq(orders.id, id))]
      : []),
    ...(isTheirs(coupon_code)
      ? [sql`update orders set cart = json_remove(cart, '$.coupon_code') where id = ${id}`]
      : []),
  ]
}

/**
 * Erases the person's orders. Files of some shops have no other order ids than addresses. Such an id becomes a hash, so
 * that imports recognise the order; numbers, coupons, references and codes with an address are removed.
 */
export async function buildOrderErasure(
  db: Database,
  { user_id }: { user_id: string },
  contacts: ErasedContacts,
): Promise<Statement[]> {
  const [ordersOfPerson, payments, codes] = await db.batch([
    sql<OrderTexts>`select orders.id, edition_id, erasure_key, order_number, external_id,
        cart ->> 'coupon_code' as coupon_code
      from orders join organizations on organizations.id = orders.organization_id
      where orders.id in ${selectOrderIds(user_id)}`,
    sql<CodeRow>`select id, provider_reference as text from transactions
      where order_id in ${selectOrderIds(user_id)} and provider_reference is not null`,
    sql<CodeRow>`select id, vendor_code as text from purchases
      where order_id in ${selectOrderIds(user_id)} and vendor_code is not null`,
  ])
  const listTheirs = (rows: readonly CodeRow[]) =>
    JSON.stringify(rows.flatMap(({ id, text }) => (containsContactInWord(text, contacts) ? [id] : [])))
  return [
    update(orders, { metadata: {}, imported_address: null }, eq(orders.user_id, user_id)),
    ...ordersOfPerson.flatMap((order) => eraseOrderTexts(order, contacts)),
    sql`update transactions set provider_reference = null, reference_since = null
      where id in (select value from json_each(${listTheirs(payments)}))`,
    sql`update purchases set vendor_code = null where id in (select value from json_each(${listTheirs(codes)}))`,
  ]
}
