import type { Language } from '../languages.ts'
import type { SuppressionReason } from '../messaging/suppressions.ts'
import type { Contact } from './users.ts'

export const maxUsersPerCall = 100
export const maxConsentPlaceLength = 500

/** The states of a person in a mailing list. */
export const subscriptionStatuses = ['subscribed', 'unsubscribed', 'cleaned', 'complained', 'unconfirmed'] as const
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

export const importedConsentStatuses = ['given', 'skipped', 'withdrawn'] as const

export interface ImportedConsent {
  status: (typeof importedConsentStatuses)[number]
  /** When the person answered, in milliseconds UTC; null when the source does not say. */
  at: number | null
  /** The page or form where the person answered; null when the source does not say. */
  place: string | null
}

/** A validated customer of another system. The phone number is E.164. */
export interface ImportedUser extends Contact {
  locale: Language | null
  metadata: Record<string, unknown>
  status: SubscriptionStatus | null
  /** Since when the person has the status, in milliseconds UTC; null when the source does not say. */
  status_at: number | null
  /** By key of the consent. */
  consents: Readonly<Record<string, ImportedConsent>>
}

/** `ended`: the consent ends because the person left the mailing list. */
interface ConsentChange {
  key: string
  status: ImportedConsent['status'] | 'ended'
  at: number
  /** True if the source does not say when the person agreed. */
  is_undated: boolean
  place: string | null
}

export interface SubscriptionDecision {
  changes: ConsentChange[]
  /** When every consent to marketing ends, in milliseconds UTC; null when they stay. */
  ends_at: number | null
  suppression: { reason: SuppressionReason; at: number } | null
}

const suppressionReasons: Partial<Record<SubscriptionStatus, SuppressionReason>> = {
  unsubscribed: 'unsubscribed',
  cleaned: 'hard_bounce',
  complained: 'complaint',
}

/** These statuses concern every edition, so only roles of the organisation may import them. */
export const organizationStatuses: readonly SubscriptionStatus[] = ['cleaned', 'complained']

const endsConsents = (status: SubscriptionStatus | null): boolean =>
  status === 'unsubscribed' || status === 'complained'

/** Decides when a consent was given. Null: nobody knows when, and it has ended; or it was never confirmed. */
function decideGivenAt({ status, status_at }: ImportedUser, at: number | null, now: number): number | null {
  if (status === 'unconfirmed') return null
  if (at !== null) return at
  if (endsConsents(status)) return null
  return status === 'cleaned' ? (status_at ?? now) : now
}

/** Decides what the status and the consents of an imported person change. */
export function decideSubscription(user: ImportedUser, now: number): SubscriptionDecision {
  const { status, consents } = user
  const statusAt = user.status_at ?? now
  const ends_at = endsConsents(status) ? statusAt : null
  const changes = Object.entries(consents).flatMap(([key, consent]): ConsentChange[] => {
    const { place } = consent
    if (consent.status !== 'given')
      return [{ key, status: consent.status, at: consent.at ?? now, is_undated: false, place }]
    const givenAt = decideGivenAt(user, consent.at, now)
    return [
      ...(givenAt === null
        ? []
        : [{ key, status: consent.status, at: givenAt, is_undated: consent.at === null, place }]),
      ...(ends_at === null ? [] : [{ key, status: 'ended' as const, at: ends_at, is_undated: false, place: null }]),
    ]
  })
  const reason = status === null ? undefined : suppressionReasons[status]
  return { changes, ends_at, suppression: reason ? { reason, at: statusAt } : null }
}
