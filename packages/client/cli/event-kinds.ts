import { closest } from 'fastest-levenshtein'
import type { WebhookEvent } from '../src/index.ts'
import { UsageError } from './errors.ts'

export type EventKind = WebhookEvent['type']

/** The kinds of events. The compiler reports a missing one. */
const kinds: Readonly<Record<EventKind, true>> = {
  'consent.given': true,
  'consent.skipped': true,
  'consent.withdrawn': true,
  'consent.expired': true,
  'purchase.action': true,
  'wallet.vendorA.pass-added': true,
  'wallet.vendorA.pass-removed': true,
  'wallet.vendorB.pass-added': true,
  'order.created': true,
  'order.updated': true,
  'order.cancelled': true,
  'refund.completed': true,
  'refund.failed': true,
  'import.completed': true,
  'campaign.sent': true,
  'message.bounced': true,
  'message.complained': true,
  'user.updated': true,
  'user.merged': true,
  'webhook.disabled': true,
}

export const eventKinds = Object.keys(kinds) as EventKind[]

const isEventKind = (name: string): name is EventKind => Object.hasOwn(kinds, name)

export function parseEventKind(name: string): EventKind {
  if (isEventKind(name)) return name
  throw new UsageError(`There is no event ${name}. Did you mean ${closest(name, eventKinds)}?`)
}

/** Reads kinds that are separated by commas. `consent.*` names all that begin with `consent.`. */
export function parseEventKinds(text: string): EventKind[] {
  const names = text.split(',').flatMap((part) => {
    const name = part.trim()
    if (!name.endsWith('*')) return name === '' ? [] : [parseEventKind(name)]
    const matches = eventKinds.filter((kind) => kind.startsWith(name.slice(0, -1)))
    return matches.length > 0 ? matches : [parseEventKind(name)]
  })
  if (names.length === 0) throw new UsageError('--events needs at least one kind, such as order.created.')
  return [...new Set(names)].toSorted()
}
