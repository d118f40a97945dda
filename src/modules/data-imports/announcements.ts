import type { Ctx } from '../../context.ts'
import { purchaseAction } from '../purchases/index.ts'
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
  const nameOf = (id: string | null): string => (id === null ? '' : (names.get(id) ?? ''))
  const occurredAt = ctx.now()
  return turns.map(({ purchase, action, status, order, user }) =>
    purchaseAction(
      {
        ...purchase,
        organization_id: edition.organization_id,
        edition_id: edition.id,
        product_name: nameOf(purchase.product_id),
        variant_name: nameOf(purchase.variant_id),
        order_id: order.id,
        order_number: order.order_number,
        user_id: user.id,
        user_email: user.email,
      },
      { action, status, occurredAt },
    ),
  )
}
