export const keptReasons = [
  'order_missing',
  'customer_erased',
  'order_changed',
  'refund_requested',
  'purchase_used',
  'pass_issued',
  'email_sent',
  'consent_answered',
  'purchase_changed',
  'payment_changed',
  'still_referenced',
] as const
export type KeptReason = (typeof keptReasons)[number]

interface KnownPurchase {
  id: string
  status: string
  version: number
}

export interface OrderFacts {
  is_missing: boolean
  has_erased_customer: boolean
  order_version: number
  version: number
  has_refund: boolean
  has_use: boolean
  has_pass: boolean
  has_email: boolean
  has_later_answer: boolean
  /** The purchases today, and the versions that the import left. */
  purchases: readonly KnownPurchase[]
  left: ReadonlyMap<string, number>
  is_payment_changed: boolean
}

/** An expiry alone does not count as a change. */
const isUnchanged = ({ id, status, version }: KnownPurchase, left: ReadonlyMap<string, number>): boolean => {
  const expected = left.get(id)
  return expected !== undefined && (version === expected || (status === 'expired' && version === expected + 1))
}

/** Null for an unchanged order, which is undone. */
export function findKeptReason(facts: OrderFacts): KeptReason | null {
  const { purchases, left } = facts
  const isSame = purchases.length === left.size && purchases.every((purchase) => isUnchanged(purchase, left))
  const reasons: [boolean, KeptReason][] = [
    [facts.has_erased_customer, 'customer_erased'],
    [facts.is_missing, 'order_missing'],
    [facts.has_refund, 'refund_requested'],
    [facts.has_use, 'purchase_used'],
    [facts.has_pass, 'pass_issued'],
    [facts.has_email, 'email_sent'],
    [facts.has_later_answer, 'consent_answered'],
    [facts.version !== facts.order_version, 'order_changed'],
    [!isSame, 'purchase_changed'],
    [facts.is_payment_changed, 'payment_changed'],
  ]
  return reasons.find(([holds]) => holds)?.[1] ?? null
}

/** A purchase that has expired meanwhile stays expired, unless it becomes valid for longer again. */
export const decideStatusAfterUndo = (
  current: string,
  before: { status: string; valid_until: number | null },
  now: number,
): string =>
  current === 'expired' && before.status !== 'expired' && before.valid_until !== null && before.valid_until <= now
    ? current
    : before.status
