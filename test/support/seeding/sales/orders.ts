import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { editions } from '../../../../src/db/schema/editions.ts'
import { update } from '../../../../src/db/write.ts'
import type { PaymentService } from '../../../../src/domain/refunds/merchant-accounts.ts'
import { post, type Reply, get } from '../../api.ts'
import { seedEdition, type EditionRow } from '../editions.ts'
import { seedReceiptMessage } from '../messaging/email-messages.ts'
import { givenOrganization } from '../organizations.ts'
import { write, unique, next } from '../rows.ts'
import { seedMerchantAccount } from './merchant-accounts.ts'

export interface Shop {
  organization_id: string
  edition_id: string
}

/** An organisation with an edition, by the names that the API has for them. */
export async function seedShop(columns: Parameters<typeof seedEdition>[1] = {}): Promise<Shop> {
  const organization = await givenOrganization()
  const edition = await seedEdition(organization, columns)
  return { organization_id: organization.id, edition_id: edition.id }
}

let orderCount = 0

/** Builds an external order of two day tickets by its own customer; `change` replaces fields. */
export function anOrder(change: Record<string, unknown> = {}) {
  orderCount++
  return {
    external_id: `X-${orderCount}`,
    currency: 'dkk',
    customer: { email: `guest-${orderCount}@example.dk`, first_name: 'Ægir', last_name: 'Holm' },
    items: [{ product: 'Day ticket', quantity: 2, unit_price: 225 }],
    ...change,
  }
}

export const importOrders = (shop: Shop, orders: unknown[], options: Record<string, unknown> = {}, token?: string) =>
  post(
    '/v1/data-imports/external-orders',
    { organization_id: shop.organization_id, edition_id: shop.edition_id, source: 'webshop', orders, ...options },
    token,
  )

/** Imports orders, and returns their ids. */
export async function givenOrders(shop: Shop, orders: unknown[]): Promise<string[]> {
  const { body } = await importOrders(shop, orders)
  return body.results.map((result: { order_id: string }) => result.order_id)
}

/** An order as the API shows it, with a function that imports it again with changes. */
async function givenImported(shop: Shop, order: ReturnType<typeof anOrder>) {
  const { body } = await importOrders(shop, [order])
  const readReply = await get(`/v1/orders/${body.results[0].order_id}`)
  const again = (change: Record<string, unknown>, options: Record<string, unknown> = {}): Promise<Reply> =>
    importOrders(shop, [{ ...order, ...change }], { on_duplicate: 'update', emit_webhooks: true, ...options })
  return { shown: readReply.body, again }
}

export interface BoughtOrder {
  shop: Shop
  order: string
  payment: string
  purchases: string[]
  /** Imports the order again, with changes. */
  again: (change: Record<string, unknown>) => Promise<Reply>
}

/** Imports a paid order of two day tickets at 225.00, unless `change` differs. */
export async function givenOrder(shop: Shop, change: Record<string, unknown> = {}): Promise<BoughtOrder> {
  const { shown: order, again } = await givenImported(shop, anOrder({ created: '2026-01-01T10:00:00Z', ...change }))
  return {
    shop,
    order: order.id,
    payment: order.transactions[0].id,
    purchases: order.purchases.map(({ id }: { id: string }) => id).toSorted(),
    again,
  }
}

export interface Ticket {
  id: string
  shop: Shop
  /** Imports the order of the ticket again with changes, which must succeed. */
  again: (change: Record<string, unknown>, options?: Record<string, unknown>) => Promise<Reply>
}

/** Imports an order of one ticket; `item` says how often and until when it can be used. */
export async function givenTicket(
  shop: Shop,
  item: Record<string, unknown> = {},
  order: Record<string, unknown> = {},
): Promise<Ticket> {
  const items = [{ product: 'Day ticket', quantity: 1, unit_price: 225, ...item }]
  const first = anOrder({ created: '2026-01-01T10:00:00Z', items, ...order })
  const { shown: orderBody, again } = await givenImported(shop, first)
  return {
    id: orderBody.purchases[0].id,
    shop,
    again: async (change, options) => {
      const reply = await again(change, options)
      expect([reply.status, reply.body.results]).toMatchObject([
        201,
        [{ action: expect.stringMatching(/updated|skipped/) }],
      ])
      return reply
    },
  }
}

/** Seeds an edition with a message for its receipts. */
export async function seedShopWithReceipts(columns: Partial<EditionRow> = {}): Promise<Shop> {
  const shop = await seedShop()
  const message = await seedReceiptMessage({ id: shop.organization_id })
  const sending = {
    transaction_receipt_email_id: message,
    email_sender_name: 'Nordlys',
    email_sender_address: 'tickets@nordlys.example',
    email_reply_to: 'help@nordlys.example',
    ...columns,
  }
  await write(update(editions, sending, sql`id = ${shop.edition_id}`))
  return shop
}

/** Seeds a shop whose payments go through a merchant account of this kind. */
export async function seedShopWithAccount(type: PaymentService, columns: Record<string, unknown> = {}): Promise<Shop> {
  const shop = await seedShop()
  const row = { name: 'Nordlys', type, supported_currencies: ['dkk'] as const, ...columns }
  await seedMerchantAccount({ id: shop.organization_id }, row, shop.edition_id)
  return shop
}

/** Builds an order with a number, a customer and items as receipts show them; `change` replaces fields. */
export function aReceiptOrder(change: Record<string, unknown> = {}) {
  const mark = unique()
  const order = anOrder()
  return {
    ...order,
    external_id: `R-${mark}`,
    order_number: String(1000 + next()),
    customer: { ...order.customer, email: `astrid-${mark}@example.dk`, first_name: 'Astrid' },
    items: [{ product: 'Day ticket', variant: 'Saturday', quantity: 2, unit_price: 225 }],
    ...change,
  }
}
