import { eq, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { users } from '../../db/schema/customers.ts'
import { editions } from '../../db/schema/editions.ts'
import { orders } from '../../db/schema/orders.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { decodeAs, fromFlag, type RowOf, select, buildSelectList } from '../../db/select.ts'
import { maxListItems } from '../../domain/email/liquid/liquid-bounds.ts'
import { toLocalDate } from '../../domain/email/liquid/local-date.ts'
import { buildCustomerValues, type TemplateContext } from '../../domain/email/liquid/variables.ts'
import type { Language } from '../../domain/languages.ts'
import { formatLocalMoney } from '../../domain/money.ts'
import { readCart } from '../../domain/orders/carts.ts'
import {
  buildProductFields,
  buildProductJoins,
  cartLineColumns,
  cartLineFields,
  cartLines,
} from '../purchases/index.ts'
import { isVerifiedSender } from '../sender-domains/index.ts'
import { frameFields } from './frame.ts'

const headFields = {
  id: orders.id,
  order_number: orders.order_number,
  status: orders.status,
  currency: orders.currency,
  items_count: orders.items_count,
  created_at: orders.created_at,
  amount_minor: orders.amount_minor,
  cart: orders.cart,
  first_name: users.first_name,
  last_name: users.last_name,
  email: users.email,
  phone_number: users.phone_number,
  ...frameFields,
  is_sender_verified: fromFlag(isVerifiedSender(sql`${orders.organization_id}`, sql`${editions.email_sender_address}`)),
}

type OrderHead = RowOf<typeof headFields>

const { quantity, price_minor } = cartLineFields
const itemFields = { quantity, price_minor, ...buildProductFields(cartLineColumns) }

type ItemRow = RowOf<typeof itemFields>

export interface MessageOrder {
  head: OrderHead
  items: ItemRow[]
  /** Number of lines that are not in `items`. */
  more_items_count: number
}

export async function loadOrder(db: Database, orderId: string): Promise<MessageOrder | null> {
  const [[head], items] = await db.batch([
    select(headFields)
      .from(orders)
      .innerJoin(users, eq(users.id, orders.user_id))
      .innerJoin(editions, eq(editions.id, orders.edition_id))
      .innerJoin(organizations, eq(organizations.id, orders.organization_id))
      .where(eq(orders.id, orderId)),
    decodeAs(
      itemFields,
      sql<ItemRow>`select ${buildSelectList(itemFields)} from ${orders} join ${cartLines}
        ${buildProductJoins(cartLineColumns)}
        where ${orders.id} = ${orderId} order by line.key limit ${maxListItems}`,
    ),
  ])
  return head ? { head, items, more_items_count: Math.max(0, (head.cart.items?.length ?? 0) - items.length) } : null
}

/** Amounts and dates are formatted for the language. */
export function buildOrderContext(
  { head, items, more_items_count }: MessageOrder,
  language: Language,
): TemplateContext {
  const { currency, timezone } = head
  const cart = readCart(head)
  const formatMoney = (minor: number) => formatLocalMoney(minor, currency, language)
  const formatUnlessZero = (minor: number) => (minor === 0 ? '' : formatMoney(minor))
  return {
    customer: buildCustomerValues(head, language),
    order: {
      number: head.order_number ?? head.id,
      date: toLocalDate(head.created_at, language, timezone, 'minute'),
      status: head.status,
      currency: currency.toUpperCase(),
      items: items.map((item) => ({
        name: item.product_name,
        variant: item.variant_name ?? '',
        location: item.location_name ?? '',
        options: item.options.map(({ name }) => name).join(', '),
        quantity: item.quantity,
        unit_price: formatMoney(item.price_minor),
        total: formatMoney(item.price_minor * item.quantity),
      })),
      items_count: head.items_count,
      more_items_count,
      subtotal: formatMoney(cart.subtotal_minor),
      deposit: formatUnlessZero(cart.deposit_minor),
      handling_fee: formatUnlessZero(cart.handling_fee_minor),
      service_fee: formatUnlessZero(cart.service_fee_minor),
      discount: formatUnlessZero(-cart.discount_minor),
      tax: formatUnlessZero(cart.tax_minor),
      total: formatMoney(cart.total_minor),
    },
    edition: {
      name: head.edition_name,
      start_date: toLocalDate(head.start_at, language, timezone, 'day'),
      end_date: toLocalDate(head.end_at, language, timezone, 'day'),
      timezone,
    },
    organization: { name: head.organization_name },
  }
}
