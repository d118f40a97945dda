import { lifecycle } from '../lifecycle.ts'
import type { PurchaseStatus } from '../orders/purchases.ts'
import type { EventKind } from '../webhooks/webhooks.ts'

export const walletPlatforms = ['apple', 'google'] as const
export type WalletPlatform = (typeof walletPlatforms)[number]

/** The vendors of the specification. The configuration says which platform each of them is. */
export const walletProviders = ['vendorA', 'vendorB'] as const
export type WalletProvider = (typeof walletProviders)[number]

export type WalletVendors = Readonly<Record<WalletProvider, WalletPlatform | null>>

export const providerOfPlatform = (vendors: WalletVendors, platform: WalletPlatform): WalletProvider | null =>
  walletProviders.find((provider) => vendors[provider] === platform) ?? null

export const walletPassLifecycle = lifecycle('active', { active: ['voided'], voided: [] })
export const walletPassStatuses = walletPassLifecycle.states
export type WalletPassStatus = (typeof walletPassStatuses)[number]

export type WalletChange = 'added' | 'removed'

/** Events of callbacks, as Google names them. */
export const googleCallbackEvents = ['save', 'del'] as const
export type GoogleCallbackEvent = (typeof googleCallbackEvents)[number]

export type WalletEventKind = Extract<EventKind, `wallet.${string}`>

const kinds: Record<WalletProvider, Record<WalletChange, WalletEventKind | null>> = {
  vendorA: { added: 'wallet.vendorA.pass-added', removed: 'wallet.vendorA.pass-removed' },
  vendorB: { added: 'wallet.vendorB.pass-added', removed: null },
}

/** The kind that announces a change; null for what is stored and not announced. */
export const walletEventKind = (provider: WalletProvider, change: WalletChange): WalletEventKind | null =>
  kinds[provider][change]

/** The state of a pass as it is shown at the entrance. */
export type PassState = 'valid' | 'used' | 'expired' | 'void'

const stateOfPurchase: Record<PurchaseStatus, PassState> = {
  pending: 'void',
  active: 'valid',
  used: 'used',
  refunded: 'void',
  expired: 'expired',
  cancelled: 'void',
}

export const passStateOf = (status: WalletPassStatus, purchaseStatus: PurchaseStatus): PassState =>
  status === 'voided' ? 'void' : stateOfPurchase[purchaseStatus]

/** Ids of Google's classes and objects begin with the issuer. One class an edition. */
export const googleClassId = (issuerId: string, editionId: string): string => `${issuerId}.${editionId}`
export const googleObjectId = (issuerId: string, serialNumber: string): string => `${issuerId}.${serialNumber}`

/** The serial number inside an object's id; null for an object of another issuer. */
export const serialOfObject = (issuerId: string, objectId: string): string | null =>
  objectId.startsWith(`${issuerId}.`) ? objectId.slice(issuerId.length + 1) : null

interface Added {
  added_at: number | null
  removed_at: number | null
}

const isAdded = ({ added_at, removed_at }: Added): boolean => added_at !== null && removed_at === null

export interface CallbackDecision {
  /** False for a callback that is older than the last stored one. */
  counts: boolean
  change: WalletChange | null
  added_at: number | null
  removed_at: number | null
}

/** The change of a pass by a callback. Callbacks repeat and arrive in any order: their expiry says which is later. */
export function decideCallback(
  pass: Added & { callback_expires_at: number | null },
  callback: { event: GoogleCallbackEvent; expires_at: number },
  now: number,
): CallbackDecision {
  const { added_at, removed_at } = pass
  const kept = { change: null, added_at, removed_at }
  if (callback.expires_at < (pass.callback_expires_at ?? 0)) return { counts: false, ...kept }
  if (callback.event === 'save')
    return isAdded(pass)
      ? { counts: true, ...kept }
      : { counts: true, change: 'added', added_at: now, removed_at: null }
  // A removal of what was never seen added is noted and not announced.
  return removed_at === null
    ? { counts: true, change: isAdded(pass) ? 'removed' : null, added_at, removed_at: now }
    : { counts: true, ...kept }
}

/** A pass is on so many phones at most; a phone beyond that takes the place of the one that registered first. */
export const maxRegistrations = 1000

export const updateClaimMs = 300_000
const maxUpdateAttempts = 12
const firstUpdateDelayMs = 60_000
const longestUpdateDelayMs = 21_600_000

/** When an update that failed is tried again; null when it is given up, after about a day. */
export const nextUpdateAt = (attempts: number, now: number): number | null =>
  attempts >= maxUpdateAttempts
    ? null
    : now + Math.min(longestUpdateDelayMs, firstUpdateDelayMs * 2 ** Math.max(0, attempts - 1))
