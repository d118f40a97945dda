import { call, patch, post, remove } from '../api.ts'
import { act } from '../refunds.ts'
import { inRecipientStore } from '../seeding/messaging/campaigns.ts'
import { importOrders } from '../seeding/sales/orders.ts'
import type { Request } from './model.ts'
import type { ListsWorld } from './world.ts'

/** Changes the row with this id, or makes or deletes rows, in one of several ways. */
type Change = (world: ListsWorld, request: Request, id: string, way: number) => Promise<unknown>

let made = 0

async function changeOrder({ imported }: ListsWorld, _: Request, id: string, way: number): Promise<unknown> {
  const known = imported.get(id)
  if (!known) return undefined
  const { shop, order } = known
  const [item] = order.items
  const anew = { ...order, status: 'cancelled' }
  const dearer = { ...order, items: [{ ...item, unit_price: 1000 + way }] }
  const other = { ...order, external_id: `made-${++made}` }
  return importOrders(shop, [[anew, dearer, other][way % 3]], { on_duplicate: 'update' })
}

/** By the lists whose rows change. Rows of an import that has ended stay as they are. */
export const changes: Record<string, Change> = {
  listOrders: changeOrder,
  listPurchases: (_, __, id) => post(`/v1/purchases/${id}/uses`, {}),
  listUsers: (_, __, id, way) =>
    way % 4 === 0
      ? post(`/v1/user/${id}/erase`, {})
      : patch(`/v1/user/${id}`, way % 2 === 0 ? { email: `changed-${++made}@example.dk` } : { first_name: 'Changed' }),
  listRefundRequests: (_, __, id, way) => act(id, way % 2 === 0 ? 'reject' : 'approve'),
  listWebhookDeliveries: (_, { parent }, id, way) =>
    way % 2 === 0
      ? post(`/v1/webhooks/${parent?.id}/test`, { event: 'purchase.action' })
      : call(`/v1/webhooks/${parent?.id}/deliveries/${id}/retry`, { method: 'POST' }),
  listAuditLog: ({ places }) => patch(`/v1/organizations/${places.a.id}`, { name: `Nordlys ${++made}` }),
  listFiles: (_, __, id, way) =>
    way % 2 === 0 ? remove(`/v1/files/${id}`) : patch(`/v1/files/${id}`, { name: `changed-${++made}.png` }),
  listCampaignRecipients: (_, { parent }, id) =>
    inRecipientStore(parent?.id ?? '', (store) => {
      const n = Number(id.replace('usr_', ''))
      store.recordOutcomes(new Map([[n, { to: 'sent', provider_id: 'late', at: Date.now() }]]), false)
    }),
}
