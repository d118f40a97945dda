import { sql } from 'drizzle-orm'
import { buildContactColumn } from '../../db/customers.ts'
import { products, variants } from '../../db/schema/catalog.ts'
import { users } from '../../db/schema/customers.ts'
import { orders } from '../../db/schema/orders.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { makeNullable, type RowOf, buildSelectList } from '../../db/select.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { Announcement } from '../webhooks/index.ts'

type PurchaseAnnouncement = Extract<Announcement, { kind: 'purchase.action' }>

/** Fields of an event about a purchase, selected from `purchases` and `purchaseEventJoins`. */
export const purchaseEventFields = {
  id: purchases.id,
  organization_id: orders.organization_id,
  edition_id: purchases.edition_id,
  vendor_code: purchases.vendor_code,
  product_id: purchases.product_id,
  product_name: products.name,
  variant_id: purchases.variant_id,
  variant_name: makeNullable(variants.name),
  order_id: purchases.order_id,
  order_number: orders.order_number,
  user_id: purchases.user_id,
  /** The customer's address as webhooks of the edition may see it. */
  user_email: sql<string | null>`${buildContactColumn(sql`${users}`, 'email', sql`${purchases.edition_id}`)}`,
}

export type PurchaseEventRow = RowOf<typeof purchaseEventFields>

export const purchaseEventColumns = buildSelectList(purchaseEventFields)

export const purchaseEventJoins = sql`join ${orders} on ${orders.id} = ${purchases.order_id}
  join ${users} on ${users.id} = ${purchases.user_id}
  join ${products} on ${products.id} = ${purchases.product_id}
  left join ${variants} on ${variants.id} = ${purchases.variant_id}`

interface PurchaseEventChange {
  action: PurchaseAnnouncement['data']['action']
  /** The status after the change. */
  status: PurchaseStatus
  /** Milliseconds UTC. */
  occurredAt: number
}

export const buildPurchaseEvent = (purchase: PurchaseEventRow, change: PurchaseEventChange): PurchaseAnnouncement => ({
  kind: 'purchase.action',
  organization_id: purchase.organization_id,
  edition_id: purchase.edition_id,
  data: {
    action: change.action,
    purchase: {
      id: purchase.id,
      vendor_code: purchase.vendor_code,
      status: change.status,
      product: { api_id: purchase.product_id, name: purchase.product_name },
      variant: purchase.variant_id === null ? null : { api_id: purchase.variant_id, name: purchase.variant_name ?? '' },
    },
    order: { id: purchase.order_id, order_number: purchase.order_number },
    user: { api_id: purchase.user_id, email: purchase.user_email },
    refund_request: null,
    occurred_at: toIso(change.occurredAt),
  },
})
