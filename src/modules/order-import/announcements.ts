import { buildPurchaseEvent } from '../purchases/index.ts'
import type { Announcement } from '../webhooks/index.ts'
import type { GroupDecision } from './decide.ts'
import type { DecisionContext } from './writes.ts'

/** What is announced of the purchases of a group. */
export function announcementsOf(
  { edition, now }: DecisionContext,
  { changes, names }: Pick<GroupDecision, 'changes' | 'names'>,
): Announcement[] {
  const nameOf = (id: string | null): string => (id === null ? '' : (names.get(id) ?? ''))
  return changes.map(({ purchase, action, status, order, user }) =>
    buildPurchaseEvent(
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
      { action, status, occurredAt: now },
    ),
  )
}
