import { lifecycle } from '../lifecycle.ts'
import { cleanKey } from '../text/invisible.ts'
import { toAsciiDomain } from './domain-names.ts'

/** A domain is `pending` until the organisation proves that it owns the domain, and again when the proof is gone. */
export const senderDomainLifecycle = lifecycle('pending', {
  pending: ['verified'],
  verified: ['pending'],
})

export const senderDomainStatuses = senderDomainLifecycle.states
export type SenderDomainStatus = (typeof senderDomainStatuses)[number]

export const senderDomainVerifiers = ['dns', 'superuser'] as const
export type SenderDomainVerifier = (typeof senderDomainVerifiers)[number]

export const maxSenderDomains = 20

/** A DNS record that the organisation has to set. */
export interface DnsRecord {
  purpose: 'ownership' | 'spf' | 'dkim' | 'other'
  type: string
  name: string
  value: string
  priority: number | null
}

export const recordPurposes = ['ownership', 'spf', 'dkim', 'other'] as const

const recordLabel = '_event-commerce'
/** DNS allows 253 characters for the full name of the record. */
export const maxSenderDomainLength = 253 - recordLabel.length - 1

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Converts a domain to ASCII in lower case, without a dot at the end. Returns null for any other text. A single label
 * is refused, because no e-mail is sent from a top-level domain.
 */
export function normalizeDomain(text: string): string | null {
  const hostname = toAsciiDomain(cleanKey(text.trim())) ?? ''
  const labels = hostname.split('.')
  // The last label of an IP address is a number.
  const isName = labels.length > 1 && labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? '')
  return isName && hostname.length <= maxSenderDomainLength ? hostname : null
}

export const buildOwnershipRecord = ({ domain, token }: { domain: string; token: string }): DnsRecord => ({
  purpose: 'ownership',
  type: 'TXT',
  name: `${recordLabel}.${domain}`,
  value: `event-commerce-domain=${token}`,
  priority: null,
})

/** The TXT records of a name, or why they could not be read. A name without records has no texts. */
export type TxtLookup = { ok: true; texts: readonly string[] } | { ok: false; code: 'timeout' | 'failure' }

export const checkOutcomes = [
  'verified',
  'record_missing',
  'record_mismatch',
  'dns_failure',
  'dns_timeout',
  'provider_pending',
  'provider_unavailable',
] as const
export type CheckOutcome = (typeof checkOutcomes)[number]

/** Checks whether the texts of a domain prove its ownership. */
export function checkOwnership(
  lookup: TxtLookup,
  proof: { domain: string; token: string },
): Exclude<CheckOutcome, `provider_${string}`> {
  if (!lookup.ok) return lookup.code === 'timeout' ? 'dns_timeout' : 'dns_failure'
  if (lookup.texts.length === 0) return 'record_missing'
  const { value } = buildOwnershipRecord(proof)
  return lookup.texts.some((text) => text.trim() === value) ? 'verified' : 'record_mismatch'
}

/** True if DNS answered without the proof. */
export const isProofGone = (outcome: CheckOutcome): boolean =>
  outcome === 'record_missing' || outcome === 'record_mismatch'

export const outcomeDetails: Record<CheckOutcome, string> = {
  verified: 'The domain is verified.',
  record_missing: 'There is no TXT record with this name. A new record may take a while to become visible.',
  record_mismatch: 'There are TXT records with this name, but none of them has the expected value.',
  dns_failure: 'DNS did not answer. Try again later.',
  dns_timeout: 'DNS took too long to answer. Try again later.',
  provider_pending: 'The domain is yours, but the e-mail provider has not seen all of its records yet.',
  provider_unavailable: 'The domain is yours, but the e-mail provider did not answer. Try again later.',
}
