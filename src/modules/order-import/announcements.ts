import type { OrderRow } from '../../db/rows.ts'
import { toMajor } from '../../domain/money.ts'
import type { OrderStatus } from '../../domain/orders/orders.ts'
import { toIso } from '../../domain/time/instants.ts'
import { buildPurchaseEvent } from '../purchases/index.ts'
import { buildUserEvent, compareContacts } from '../users/index.ts'
import type { Announcement } from '../webhooks/index.ts'
import type { PeopleContext } from './decide-people.ts'
import type { GroupDecision } from './decide.ts'
import type { DecisionContext } from './writes.ts'

function buildPurchaseAnnouncements(
  { edition, now }: DecisionContext,
  { changes, catalogueNames }: Pick<GroupDecision, 'changes' | 'catalogueNames'>,
): Announcement[] {
  const getName = (id: string | null): string => (id === null ? '' : (catalogueNames.get(id) ?? ''))
  return changes.map(({ purchase, action, status, order, user }) =>
    buildPurchaseEvent(
      {
        ...purchase,
        organization_id: edition.organization_id,
        edition_id: edition.id,
        product_name: getName(purchase.product_id),
        variant_name: getName(purchase.variant_id),
        order_id: order.id,
        order_number: order.order_number,
        user_id: user.id,
        user_email: user.email,
      },
      { action, status, occurredAt: now },
    ),
  )
}

export type AnnouncedOrder = Pick<
  OrderRow,
  | 'id'
  | 'organization_id'
  | 'edition_id'
  | 'user_id'
  | 'order_number'
  | 'external_id'
  | 'external_source'
  | 'status'
  | 'amount_minor'
  | 'currency'
>

const cancelledStatus: OrderStatus = 'cancelled'

function chooseOrderKind(status: OrderStatus, previousStatus: OrderStatus | null) {
  if (previousStatus === null) return 'order.created' as const
  const isCancelled = status === cancelledStatus && previousStatus !== cancelledStatus
  return isCancelled ? ('order.cancelled' as const) : ('order.updated' as const)
}

/** Builds the event about an order as it is after a change. `previousStatus` is null for a new order. */
export const buildOrderEvent = (
  order: AnnouncedOrder,
  previousStatus: OrderStatus | null,
  now: number,
): Announcement => ({
  kind: chooseOrderKind(order.status, previousStatus),
  organization_id: order.organization_id,
  edition_id: order.edition_id,
  data: {
    order: {
      id: order.id,
      order_number: order.order_number,
      external_id: order.external_id,
      source: order.external_source,
      status: order.status,
      amount: toMajor(order.amount_minor),
      currency: order.currency,
    },
    previous_status: previousStatus,
    user: { api_id: order.user_id },
    occurred_at: toIso(now),
  },
})

/** An import only adds to the organisation's data of a customer, and replaces those of its edition. */
export function buildUserAnnouncements(
  { edition, now }: Pick<PeopleContext, 'edition' | 'now'>,
  { writes }: Pick<GroupDecision, 'writes'>,
): Announcement[] {
  const { organization_id } = edition
  return writes.flatMap((write) => {
    if (write.write === 'user') {
      const change = { user_id: write.user.id, organization_id, edition_id: null }
      return buildUserEvent(change, compareContacts(write.user, { ...write.user, ...write.changes }), now)
    }
    if (write.write !== 'edition-customers') return []
    return write.changes.flatMap(({ user_id, before, after }) =>
      buildUserEvent({ user_id, organization_id, edition_id: edition.id }, compareContacts(before, after), now),
    )
  })
}

/** Builds the events of a group: about its orders, their purchases and their customers. */
export const buildImportAnnouncements = (context: DecisionContext, decision: GroupDecision): Announcement[] => [
  ...decision.orders.map((order) => buildOrderEvent(order, decision.formerStatuses.get(order.id) ?? null, context.now)),
  ...buildPurchaseAnnouncements(context, decision),
  ...buildUserAnnouncements(context, decision),
]
