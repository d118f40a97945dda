import type { z } from '@hono/zod-openapi'
import type { ActivityKind } from '../../domain/activity.ts'
import { toMajor } from '../../domain/money.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import type { Activity, UserMessage } from './contract.ts'
import type { ActivityRow, MessageRow } from './list.ts'

/** An id of an entry is its kind and the key of its row. The key may go on after another colon. */
const splitId = (id: string): [kind: string, resourceId: string] => {
  const [kind = '', resourceId = ''] = id.split(':')
  return [kind, resourceId]
}

export function presentActivity({ id, occurred_at, detail }: ActivityRow): z.input<typeof Activity> {
  const [kind, resource_id] = splitId(id)
  return {
    id,
    kind: kind as ActivityKind,
    created: toIso(occurred_at),
    actor: detail.actor,
    edition_id: detail.edition_id,
    order_id: detail.order_id,
    purchase_id: detail.purchase_id,
    resource_id,
    status: detail.status,
    label: detail.label,
    quantity: detail.quantity,
    amount: detail.amount_minor === null ? null : toMajor(detail.amount_minor),
    currency: detail.currency,
  }
}

export function presentMessage({ id, occurred_at, detail }: MessageRow): z.input<typeof UserMessage> {
  const [, resourceId] = splitId(id)
  const toTime = (at: number | null | undefined) => toIsoOrNull(at ?? null)
  return {
    id: resourceId,
    channel: detail.channel,
    kind: detail.kind,
    edition_id: detail.edition_id,
    order_id: detail.order_id ?? null,
    name: detail.name,
    recipient: detail.recipient ?? null,
    language: detail.language ?? null,
    status: detail.status,
    reason: detail.reason,
    sent_at: toTime(detail.sent_at),
    opened_at: toTime(detail.opened_at),
    clicked_at: toTime(detail.clicked_at),
    bounced_at: toTime(detail.bounced_at),
    complained_at: toTime(detail.complained_at),
    unsubscribed_at: toTime(detail.unsubscribed_at),
    created: toIso(occurred_at),
  }
}
