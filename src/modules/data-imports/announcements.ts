import type { Ctx } from '../../context.ts'
import { toIso } from '../../domain/instants.ts'
import type { Announcement } from '../webhooks/index.ts'
import type { ImportState } from './state.ts'
import type { Edition, PurchaseTurn } from './writes.ts'

/** What the world is told of the purchases of a group; `state` names all that they are of. */
export function announcementsOf(
  ctx: Ctx,
  edition: Edition,
  state: ImportState,
  turns: readonly PurchaseTurn[],
): Announcement[] {
  const names = new Map(state.names)
  for (const { id, name } of [...state.products.values(), ...state.variants.values()]) names.set(id, name)
  const named = (id: string) => ({ api_id: id, name: names.get(id) ?? '' })
  const occurred_at = toIso(ctx.now())
  return turns.map(({ purchase, action, status, order, user }) => ({
    kind: 'purchase.action',
    organization_id: edition.organization_id,
    edition_id: edition.id,
    data: {
      action,
      purchase: {
        id: purchase.id,
        vendor_code: purchase.vendor_code,
        status,
        product: named(purchase.product_id),
        variant: purchase.variant_id === null ? null : named(purchase.variant_id),
      },
      order,
      user: { api_id: user.id, email: user.email },
      refund_request: null,
      occurred_at,
    },
  }))
}
