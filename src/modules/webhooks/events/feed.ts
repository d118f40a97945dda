import { type SQL, sql } from 'drizzle-orm'
import { webhookEvents } from '../../../db/schema/webhooks.ts'
import { buildVisibility } from '../../../db/visibility.ts'
import { AppError, invalid, parameterError } from '../../../domain/errors.ts'

/** The events of an organization in the order of their commits. */
export const eventsInOrder = sql`webhook_events indexed by webhook_events_by_commit`

export const eventVisibility = buildVisibility(sql`${webhookEvents.organization_id}`, sql`${webhookEvents.edition_id}`)

/** True for events about the resource. */
export const isAbout = (resourceId: string): SQL => sql`instr(webhook_events.resource_ids, ${` ${resourceId} `}) > 0`

/** The largest `seq` of the organization's deleted events. */
export const selectExpiredSeq = (organizationId: SQL): SQL<number> =>
  sql<number>`coalesce((select seq from webhook_event_expiries where organization_id = ${organizationId}), 0)`

/** The largest `seq` that the organization's events have had. */
export const selectLastSeq = (organizationId: SQL): SQL<number> => sql<number>`max(${selectExpiredSeq(organizationId)},
  coalesce((select max(seq) from ${eventsInOrder} where organization_id = ${organizationId} and seq is not null), 0))`

/**
 * True for events of the organization that a client can read after `position`. Events before a deleted one are deleted
 * soon, and no client reads them any more, so that a cursor never leads past a gap. Both bounds are one expression,
 * because SQLite seeks by one lower bound only.
 */
export const isReadable = (organizationId: string, position: number): SQL =>
  sql`${webhookEvents.organization_id} = ${organizationId}
    and ${webhookEvents.seq} > max(${position}, ${selectExpiredSeq(sql`${organizationId}`)})`

/** A cursor names its organization, because the numbers of two organizations say nothing about each other. */
export const formatCursor = (organizationId: string, seq: number): string => `${organizationId}:${seq}`

/** The `seq` of a cursor. Throws for the cursor of another organization. */
export function parseCursor(organizationId: string, cursor: string, parameter: string): number {
  const [prefix = '', digits = ''] = cursor.split(':', 2)
  if (prefix === organizationId && /^\d{1,15}$/.test(digits) && cursor === formatCursor(prefix, Number(digits)))
    return Number(digits)
  throw invalid(
    parameterError(parameter, 'invalid_cursor', 'Send the `cursor` of an event of this organisation unchanged.'),
  )
}

export const eventsExpired = (): AppError =>
  new AppError(
    'events_expired',
    'Events after this cursor are deleted. Leave out the cursor to begin at the oldest event.',
  )
