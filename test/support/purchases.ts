import { sql } from 'drizzle-orm'
import type { purchases, purchaseUses } from '../../src/db/schema/purchases.ts'
import { type EventData, payloadSchema } from '../../src/modules/webhooks/events/payload-contract.ts'
import { post, type Reply, type Request } from './api.ts'
import { db } from './seeding/rows.ts'
import type { Ticket } from './seeding/sales/orders.ts'
import { listPurchaseEvents } from './webhook-rows.ts'

type PurchaseRow = typeof purchases.$inferSelect
type UseRow = typeof purchaseUses.$inferSelect

export const scan = (id: string, body: Record<string, unknown> = {}, request: Request = {}): Promise<Reply> =>
  post(`/v1/purchases/${id}/uses`, body, request.token ?? undefined)

export const revert = (id: string, use: string, token?: string): Promise<Reply> =>
  post(`/v1/purchases/${id}/uses/${use}/revert`, {}, token)

export const loadPurchase = async (id: string): Promise<PurchaseRow> => {
  const row = await db.first(sql<PurchaseRow>`select * from purchases where id = ${id}`)
  if (!row) throw new Error('there is no such purchase')
  return row
}

export const listUses = (id: string): Promise<UseRow[]> =>
  db.all(sql<UseRow>`select * from purchase_uses where purchase_id = ${id} order by id`)

/** Lists the announced actions of a purchase with the status after each, such as `used:active`. */
export async function listAnnounced({ id, shop }: Pick<Ticket, 'id' | 'shop'>): Promise<string[]> {
  const events = await listPurchaseEvents(shop.organization_id)
  const payload = payloadSchema('purchase.action').strict()
  return events
    .map((event) => payload.parse(JSON.parse(event.payload)).data as EventData<'purchase.action'>)
    .filter(({ purchase }) => purchase.id === id)
    .map(({ action, purchase }) => `${action}:${purchase.status}`)
}

/** Counts each status and code. */
export function tally(replies: readonly Reply[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of replies) {
    const key = status < 400 ? String(status) : `${status} ${body.code}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}
