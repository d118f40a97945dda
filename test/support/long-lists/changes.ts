import { expect } from 'vitest'
import { patch, post, type Reply, remove } from '../api.ts'
import { actOnRefund } from '../refunds.ts'
import { inRecipientStore } from '../seeding/messaging/campaigns.ts'
import { importOrders } from '../seeding/sales/orders.ts'
import type { Request } from './model.ts'
import type { ListsWorld } from './world.ts'

/** Changes, deletes or copies the row with this id, and tells whether it did. */
type Change = (world: ListsWorld, request: Request, id: string, way: number) => Promise<boolean>

const isDone = async (reply: Promise<Reply>): Promise<boolean> => (await reply).status < 300

let changeCount = 0

async function changeOrder({ imported }: ListsWorld, _: Request, id: string, way: number): Promise<boolean> {
  const importedOrder = imported.get(id)
  if (!importedOrder) return false
  const { shop, order } = importedOrder
  const [item] = order.items
  const anew = { ...order, status: 'cancelled' }
  const dearer = { ...order, items: [{ ...item, unit_price: 1000 + way }] }
  const other = { ...order, external_id: `made-${++changeCount}` }
  const reply = await importOrders(shop, [[anew, dearer, other][way % 3]], { on_duplicate: 'update' })
  // A cancelled order cannot become another one, and a call whose only order is refused answers 422.
  expect([201, 422], reply.text).toContain(reply.status)
  return reply.body.results[0].action !== 'error'
}

/** Ways to change the rows of a list. Rows of an import that has ended stay as they are. */
export const changes: Record<string, Change> = {
  listOrders: changeOrder,
  listPurchases: (_, __, id) => isDone(post(`/v1/purchases/${id}/uses`, {})),
  listUsers: (_, __, id, way) => {
    if (way % 4 === 0) return isDone(post(`/v1/user/${id}/erase`, {}))
    const change = way % 2 === 0 ? { email: `changed-${++changeCount}@example.dk` } : { first_name: 'Changed' }
    return isDone(patch(`/v1/user/${id}`, change))
  },
  listRefundRequests: (_, __, id, way) => isDone(actOnRefund(id, way % 2 === 0 ? 'reject' : 'approve')),
  listWebhookDeliveries: (_, { parent }, id, way) => {
    const path = `/v1/webhooks/${parent?.id}`
    return isDone(
      way % 2 === 0 ? post(`${path}/test`, { event: 'purchase.action' }) : post(`${path}/deliveries/${id}/retry`, {}),
    )
  },
  listAuditLog: ({ places }) => isDone(patch(`/v1/organizations/${places.a.id}`, { name: `Nordlys ${++changeCount}` })),
  listFiles: (_, __, id, way) =>
    isDone(
      way % 2 === 0 ? remove(`/v1/files/${id}`) : patch(`/v1/files/${id}`, { name: `changed-${++changeCount}.png` }),
    ),
  listCampaignRecipients: async (_, { parent }, id) => {
    await inRecipientStore(parent?.id ?? '', (store) => {
      const n = Number(id.replace('usr_', ''))
      store.recordOutcomes(new Map([[n, { to: 'sent', provider_id: 'late', at: Date.now() }]]), false)
    })
    return true
  },
}
