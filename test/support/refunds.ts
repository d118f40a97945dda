import { asc, eq, getTableColumns, sql } from 'drizzle-orm'
import { expect } from 'vitest'
import type { transactions } from '../../src/db/schema/orders.ts'
import { type refundItems, refundRequests } from '../../src/db/schema/refunds.ts'
import { select } from '../../src/db/select.ts'
import { payRefunds } from '../../src/modules/refund-payments/jobs.ts'
import { post, type Reply } from './api.ts'
import { createJob } from './campaigns.ts'
import { db } from './seeding/rows.ts'
import { type Shop } from './seeding/sales/orders.ts'

type RefundRow = typeof refundRequests.$inferSelect
type ItemRow = typeof refundItems.$inferSelect
type TransactionRow = typeof transactions.$inferSelect

export const requestRefund = (body: Record<string, unknown>, token?: string): Promise<Reply> =>
  post('/v1/refund-requests', { reason: 'customer_request', ...body }, token)

export const requestPurchaseRefund = (
  purchase: string,
  body: Record<string, unknown> = {},
  token?: string,
): Promise<Reply> => post(`/v1/purchases/${purchase}/refund-requests`, { reason: 'customer_request', ...body }, token)

type Action = 'approve' | 'reject' | 'cancel' | 'retry' | 'settle'

export const actOnRefund = (
  id: string,
  action: Action,
  body: Record<string, unknown> = {},
  token?: string,
): Promise<Reply> =>
  post(`/v1/refund-requests/${id}/${action}`, action === 'reject' ? { reason: 'No', ...body } : body, token)

export const loadRefundRow = async (id: string): Promise<RefundRow> => {
  const row = await db.first(
    select(getTableColumns(refundRequests)).from(refundRequests).where(eq(refundRequests.id, id)),
  )
  if (!row) throw new Error('there is no such refund')
  return row
}

export const loadRefundRows = (shop: Shop): Promise<RefundRow[]> =>
  db.all(
    select(getTableColumns(refundRequests))
      .from(refundRequests)
      .where(eq(refundRequests.edition_id, shop.edition_id))
      .orderBy(asc(refundRequests.id)),
  )

export const loadRefundItems = (id: string): Promise<ItemRow[]> =>
  db.all(sql<ItemRow>`select * from refund_items where refund_request_id = ${id} order by purchase_id`)

export const loadTransaction = async (id: string): Promise<TransactionRow> => {
  const row = await db.first(sql<TransactionRow>`select * from transactions where id = ${id}`)
  if (!row) throw new Error('there is no such transaction')
  return row
}

/** Expects the counters of purchases and payments to equal the sums of the requests. */
export async function expectCountersToBeSums({ edition_id }: Shop): Promise<void> {
  const open = sql`r.status in ('pending', 'approved', 'processing')`
  const isCompleted = sql`r.status = 'completed'`
  const ofPurchases = await db.all(sql`select p.id, p.refunded_minor, p.reserved_minor,
      (select coalesce(sum(iif(${isCompleted}, i.amount_minor, 0)), 0) from refund_items i join refund_requests r
        on r.id = i.refund_request_id where i.purchase_id = p.id) as refunded,
      (select coalesce(sum(iif(${open}, i.amount_minor, 0)), 0) from refund_items i join refund_requests r
        on r.id = i.refund_request_id where i.purchase_id = p.id) as reserved
    from purchases p where p.edition_id = ${edition_id}
      and (p.refunded_minor <> refunded or p.reserved_minor <> reserved
        or p.refunded_minor + p.reserved_minor > p.price_minor + p.deposit_minor + p.handling_fee_minor)`)
  const ofPayments = await db.all(sql`select t.id, t.refunded_minor, t.reserved_minor, t.status,
      (select coalesce(sum(r.refunded_minor), 0) from refund_requests r
        where r.order_id = t.order_id and r.transaction_id = t.id and ${isCompleted}) as refunded,
      (select coalesce(sum(coalesce(r.approved_minor, r.requested_minor)), 0) from refund_requests r
        where r.order_id = t.order_id and r.transaction_id = t.id and ${open}) as reserved
    from transactions t join orders o on o.id = t.order_id
    where o.edition_id = ${edition_id} and t.type = 'payment' and (t.refunded_minor <> refunded
      or t.reserved_minor <> reserved or t.refunded_minor > t.amount_minor
      or (t.refunded_minor + t.reserved_minor > t.amount_minor and not exists (select 1 from refund_requests r
        where r.order_id = t.order_id and r.transaction_id = t.id and r.source = 'provider')))`)
  const ofItems = await db.all(sql`select r.id from refund_requests r where r.edition_id = ${edition_id}
    and ((r.source <> 'provider' and r.price_minor + r.deposit_minor + r.handling_fee_minor + r.service_fee_minor
        <> coalesce(r.approved_minor, r.requested_minor))
      or (r.source <> 'provider' and (select coalesce(sum(amount_minor), 0) + r.service_fee_minor from refund_items i
        where i.refund_request_id = r.id) <> coalesce(r.approved_minor, r.requested_minor))
      or exists (select 1 from refund_items i where i.refund_request_id = r.id
        and i.amount_minor <> i.price_minor + i.deposit_minor + i.handling_fee_minor))`)
  expect({ ofPurchases, ofPayments, ofItems }).toEqual({ ofPurchases: [], ofPayments: [], ofItems: [] })
}

export const payDueRefunds = (): Promise<void> => payRefunds(createJob())

/** Runs the consumer until the refund meets a condition. */
export async function payUntil(id: string, isDone: (row: RefundRow) => boolean): Promise<RefundRow> {
  for (let tries = 0; tries < 5; tries++) {
    await payDueRefunds()
    const row = await loadRefundRow(id)
    if (isDone(row)) return row
  }
  throw new Error(`the refund stays ${(await loadRefundRow(id)).status}`)
}

/** An order of one ticket with price, deposit and handling fee. */
export const oneTicket = {
  items: [{ product: 'Day ticket', quantity: 1, unit_price: 225, deposit: 10, handling_fee: 5 }],
}

/** An order of three purchases, of which 120.00, 120.00 and 33.33 can be refunded without fees. */
export const threePurchases = {
  items: [
    { product: 'Day ticket', quantity: 2, unit_price: 100, deposit: 20, handling_fee: 5 },
    { product: 'Camping', quantity: 1, unit_price: 33.33 },
  ],
  service_fee: 12.5,
}
