const keptReasons = [
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

/** `shared_customer` is the reason of an order that is undone without all data of its customer. */
export const undoReasons = [...keptReasons, 'shared_customer'] as const
export type UndoReason = (typeof undoReasons)[number]

interface CurrentPurchase {
  id: string
  status: string
  version: number
}

type VersionStep = readonly [formerVersion: number, restoredVersion: number]

/** The versions that the undo of a later import changed. The content is that of the former version again. */
export interface RestoredVersions {
  order: VersionStep
  /** By id. Purchases whose version did not change are left out. */
  purchases: Readonly<Record<string, VersionStep>>
}

/** Finds the version that has the content of `version` today. */
function followSteps(version: number, steps: readonly VersionStep[]): number {
  const restoredVersions = new Map(steps)
  let currentVersion = version
  for (let next = restoredVersions.get(currentVersion); next !== undefined; next = restoredVersions.get(currentVersion))
    currentVersion = next
  return currentVersion
}

export interface OrderFacts {
  is_missing: boolean
  has_erased_customer: boolean
  /** The version of the order after the import. */
  order_version: number
  /** The version of the order today. */
  version: number
  has_refund: boolean
  has_use: boolean
  has_pass: boolean
  has_email: boolean
  has_later_answer: boolean
  /** The purchases as they are today. */
  purchases: readonly CurrentPurchase[]
  /** The versions that the purchases had after the import, by id. */
  imported_versions: ReadonlyMap<string, number>
  is_payment_changed: boolean
  /** Versions that undos of later imports restored. */
  restorations: readonly RestoredVersions[]
}

/** An expiry alone does not count as a change, whether it came before or after a later import that is undone. */
function isUnchanged({ id, status, version }: CurrentPurchase, facts: OrderFacts): boolean {
  const importedVersion = facts.imported_versions.get(id)
  if (importedVersion === undefined) return false
  const steps = facts.restorations.flatMap(({ purchases }) => (purchases[id] ? [purchases[id]] : []))
  const expectedVersion = followSteps(importedVersion, steps)
  if (status !== 'expired') return version === expectedVersion
  return [expectedVersion, expectedVersion + 1, followSteps(expectedVersion + 1, steps)].includes(version)
}

/** Finds why an undo has to keep an order. Returns null for an unchanged order, which is undone. */
export function findKeptReason(facts: OrderFacts): KeptReason | null {
  const { purchases, imported_versions } = facts
  const areSame =
    purchases.length === imported_versions.size && purchases.every((purchase) => isUnchanged(purchase, facts))
  const orderSteps = facts.restorations.map(({ order }) => order)
  const reasons: [boolean, KeptReason][] = [
    [facts.has_erased_customer, 'customer_erased'],
    [facts.is_missing, 'order_missing'],
    [facts.has_refund, 'refund_requested'],
    [facts.has_use, 'purchase_used'],
    [facts.has_pass, 'pass_issued'],
    [facts.has_email, 'email_sent'],
    [facts.has_later_answer, 'consent_answered'],
    [facts.version !== followSteps(facts.order_version, orderSteps), 'order_changed'],
    [!areSame, 'purchase_changed'],
    [facts.is_payment_changed, 'payment_changed'],
  ]
  return reasons.find(([holds]) => holds)?.[1] ?? null
}

/** A purchase that has expired since the import stays expired, unless its former validity is not over yet. */
export const decideStatusAfterUndo = (
  currentStatus: string,
  before: { status: string; valid_until: number | null },
  now: number,
): string =>
  currentStatus === 'expired' && before.status !== 'expired' && before.valid_until !== null && before.valid_until <= now
    ? currentStatus
    : before.status
