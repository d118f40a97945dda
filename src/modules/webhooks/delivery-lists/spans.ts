import { sql } from 'drizzle-orm'
import { byMoment, type SpannedList } from '../../../db/lists/spans/spanned-list.ts'
import type { Ranges } from '../../../db/lists/ranges.ts'
import { deliveryStatuses, eventKindNames } from '../../../domain/webhooks/webhooks.ts'

/** Indexes have the deliveries of each kind in the order of their creation. */
export const rangesOfKinds: Ranges = {
  columns: [sql`webhook_deliveries.kind`],
  values: eventKindNames.map((kind) => [kind]),
  areWords: true,
}

export const createdAt = sql`webhook_deliveries.created_at`

/** A delivery that changes its status late is counted anew by a trigger. */
export const deliverySpans: SpannedList = {
  name: 'webhook_deliveries',
  table: sql`webhook_deliveries`,
  joins: sql`join webhook_events on webhook_events.id = webhook_deliveries.event_id`,
  scope: sql`webhook_deliveries.endpoint_id`,
  key: createdAt,
  ...byMoment,
  facets: [
    { column: sql`webhook_deliveries.status`, values: deliveryStatuses },
    { column: sql`coalesce(webhook_events.edition_id, '-')` },
  ],
  hasSums: true,
  mostUndivided: 128,
  isSettled: true,
  ranges: rangesOfKinds,
  hasSmallScopes: true,
}
