import { sql } from 'drizzle-orm'
import { contactSeenInEdition } from '../../db/shared-customers.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import type { Announcement } from '../webhooks/index.ts'

type PurchaseAnnouncement = Extract<Announcement, { kind: 'purchase.action' }>

/** What an event says about a purchase. */
export interface AnnouncedPurchase {
  id: string
  organization_id: string
  edition_id: string
  vendor_code: string | null
  product_id: string
  product_name: string
  variant_id: string | null
  variant_name: string | null
  order_id: string
  order_number: string | null
  user_id: string
  /** As it is shown to endpoints of the edition. */
  user_email: string | null
}

/** Columns of `AnnouncedPurchase`, over `purchases` and `announcedJoins`. */
export const announcedColumns = sql`purchases.id, purchases.organization_id, purchases.edition_id,
  purchases.vendor_code, purchases.product_id, products.name as product_name, purchases.variant_id,
  variants.name as variant_name, purchases.order_id, orders.order_number, purchases.user_id,
  ${contactSeenInEdition(sql`users`, 'email', sql`purchases.edition_id`)} as user_email`

export const announcedJoins = sql`join orders on orders.id = purchases.order_id
  join users on users.id = purchases.user_id
  join products on products.id = purchases.product_id
  left join variants on variants.id = purchases.variant_id`

interface AnnouncedChange {
  action: PurchaseAnnouncement['data']['action']
  /** The status that the purchase has afterwards. */
  status: PurchaseStatus
  /** Milliseconds UTC. */
  occurredAt: number
}

/** The event about a change of a purchase. */
export const purchaseAction = (purchase: AnnouncedPurchase, change: AnnouncedChange): PurchaseAnnouncement => ({
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
