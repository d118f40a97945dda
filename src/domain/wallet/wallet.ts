import { lifecycle } from '../lifecycle.ts'
import type { PurchaseStatus } from '../orders/purchases.ts'
import type { EventKind } from '../webhooks/webhooks.ts'

export const walletPlatforms = ['apple', 'google'] as const
export type WalletPlatform = (typeof walletPlatforms)[number]

/** The vendors in the names of events. The configuration assigns a platform to each. */
export const walletProviders = ['vendorA', 'vendorB'] as const
export type WalletProvider = (typeof walletProviders)[number]

export type WalletVendors = Readonly<Record<WalletProvider, WalletPlatform | null>>

export const findWalletProvider = (vendors: WalletVendors, platform: WalletPlatform): WalletProvider | null =>
  walletProviders.find((provider) => vendors[provider] === platform) ?? null

export const walletPassLifecycle = lifecycle('active', { active: ['voided'], voided: [] })
export const walletPassStatuses = walletPassLifecycle.states
export type WalletPassStatus = (typeof walletPassStatuses)[number]

export type WalletChange = 'added' | 'removed'

/** The events of callbacks, with Google's names. */
export const googleCallbackEvents = ['save', 'del'] as const
export type GoogleCallbackEvent = (typeof googleCallbackEvents)[number]

export type WalletEventKind = Extract<EventKind, `wallet.${string}`>

const eventKinds: Record<WalletProvider, Record<WalletChange, WalletEventKind | null>> = {
  vendorA: { added: 'wallet.vendorA.pass-added', removed: 'wallet.vendorA.pass-removed' },
  vendorB: { added: 'wallet.vendorB.pass-added', removed: null },
}

/** Returns null for a change that no event announces. */
export const getWalletEventKind = (provider: WalletProvider, change: WalletChange): WalletEventKind | null =>
  eventKinds[provider][change]

/** The state that a pass shows. */
export type PassState = 'valid' | 'used' | 'expired' | 'void'

const statesByPurchaseStatus: Record<PurchaseStatus, PassState> = {
  pending: 'void',
  active: 'valid',
  used: 'used',
  refunded: 'void',
  expired: 'expired',
  cancelled: 'void',
}

export const getPassState = (status: WalletPassStatus, purchaseStatus: PurchaseStatus): PassState =>
  status === 'voided' ? 'void' : statesByPurchaseStatus[purchaseStatus]

/** Google's ids begin with the issuer. Each edition has one class. */
export const buildGoogleClassId = (issuerId: string, editionId: string): string => `${issuerId}.${editionId}`
export const buildGoogleObjectId = (issuerId: string, serialNumber: string): string => `${issuerId}.${serialNumber}`

/** Returns the serial number in the id of an object, or null for an object of another issuer. */
export const parseGoogleObjectId = (issuerId: string, objectId: string): string | null =>
  objectId.startsWith(`${issuerId}.`) ? objectId.slice(issuerId.length + 1) : null

interface AddedTimes {
  added_at: number | null
  removed_at: number | null
}

const isAdded = ({ added_at, removed_at }: AddedTimes): boolean => added_at !== null && removed_at === null

export interface CallbackDecision {
  /** False for a callback that is older than the last one that counted. */
  counts: boolean
  change: WalletChange | null
  added_at: number | null
  removed_at: number | null
}

/** Decides what a callback changes. Callbacks repeat and arrive in any order; their expiry tells which one is later. */
export function decideCallback(
  pass: AddedTimes & { callback_expires_at: number | null },
  callback: { event: GoogleCallbackEvent; expires_at: number },
  now: number,
): CallbackDecision {
  const { added_at, removed_at } = pass
  const sameState = { change: null, added_at, removed_at }
  if (callback.expires_at < (pass.callback_expires_at ?? 0)) return { counts: false, ...sameState }
  if (callback.event === 'save')
    return isAdded(pass)
      ? { counts: true, ...sameState }
      : { counts: true, change: 'added', added_at: now, removed_at: null }
  // The removal of a pass that was never added is stored, but no event announces it.
  return removed_at === null
    ? { counts: true, change: isAdded(pass) ? 'removed' : null, added_at, removed_at: now }
    : { counts: true, ...sameState }
}

/** The number of phones that may hold a pass. One more phone replaces the phone that registered first. */
export const maxRegistrations = 1000

export const updateClaimMs = 300_000
const maxUpdateAttempts = 12
const firstUpdateDelayMs = 60_000
const longestUpdateDelayMs = 21_600_000

/** Computes when a failed update is tried again. Returns null after about a day, when it is given up. */
export const computeNextUpdateAt = (attempts: number, now: number): number | null =>
  attempts >= maxUpdateAttempts
    ? null
    : now + Math.min(longestUpdateDelayMs, firstUpdateDelayMs * 2 ** Math.max(0, attempts - 1))
