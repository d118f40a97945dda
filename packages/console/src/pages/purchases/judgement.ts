import type { Schema } from '../../api'

export type Ticket = Schema['PurchaseDetail']
export type Use = Ticket['uses'][number]

/** The reason for which somebody is not let in. `unknown`: no ticket of the edition has the code. */
export type RefusalReason = 'unknown' | Exclude<Ticket['status'], 'active'>

export type Judgement = { mayEnter: true } | { mayEnter: false; reason: RefusalReason }

type Judged = Pick<Ticket, 'status' | 'is_unlimited_use' | 'available_uses' | 'valid_until'>

/** Tells whether a ticket can be used now. The service decides again when it is used. */
export function judgeTicket({ status, is_unlimited_use, available_uses, valid_until }: Judged, now: number): Judgement {
  if (status !== 'active') return { mayEnter: false, reason: status }
  // The status of a ticket whose validity is over changes within a minute.
  if (valid_until !== null && Date.parse(valid_until) <= now) return { mayEnter: false, reason: 'expired' }
  if (!is_unlimited_use && available_uses === 0) return { mayEnter: false, reason: 'used' }
  return { mayEnter: true }
}

/** The first and the last use that count. Of more than 50 uses the API lists the newest. */
export function findUses(uses: readonly Use[]): { first: Use; last: Use } | null {
  const counted = uses
    .filter(({ reverted_at }) => reverted_at === null)
    .toSorted((one, other) => Date.parse(one.used_at) - Date.parse(other.used_at))
  const [first, last] = [counted[0], counted.at(-1)]
  return first && last ? { first, last } : null
}
