import { lifecycle } from '../lifecycle.ts'

/** `pending` until the organisation has proved that the domain is its own, and again once the proof is gone. */
export const senderDomainLifecycle = lifecycle('pending', {
  pending: ['verified'],
  verified: ['pending'],
})

export const senderDomainStatuses = senderDomainLifecycle.states
export type SenderDomainStatus = (typeof senderDomainStatuses)[number]

export const senderDomainVerifiers = ['dns', 'superuser'] as const
export type SenderDomainVerifier = (typeof senderDomainVerifiers)[number]

export const maxSenderDomains = 20

/** A record that the organisation has to set. */
export interface DnsRecord {
  purpose: 'ownership' | 'spf' | 'dkim' | 'other'
  type: string
  name: string
  value: string
  priority: number | null
}

export const recordPurposes = ['ownership', 'spf', 'dkim', 'other'] as const

const recordLabel = '_event-commerce'
/** The whole name of the record has at most 253 characters. */
export const maxSenderDomainLength = 253 - recordLabel.length - 1

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The domain in the form of DNS, in lower case and without a dot at the end; null for another text. A single
 * label is refused, because no mail is sent from a top-level domain.
 */
export function normalizeDomain(text: string): string | null {
  const given = text.trim().normalize('NFC').replace(/\.$/, '')
  // Characters with a meaning in a URL are refused, such as those of a port, a path, or an encoding.
  if (!/^[\p{L}\p{N}\p{M}.-]+$/u.test(given) || !URL.canParse(`http://${given}`)) return null
  const { hostname } = new URL(`http://${given}`)
  const labels = hostname.split('.')
  // The last label of an IP address is a number.
  const isName = labels.length > 1 && labels.every((one) => label.test(one)) && !/^\d+$/.test(labels.at(-1) ?? '')
  return isName && hostname.length <= maxSenderDomainLength ? hostname : null
}

export const buildOwnershipRecord = ({ domain, token }: { domain: string; token: string }): DnsRecord => ({
  purpose: 'ownership',
  type: 'TXT',
  name: `${recordLabel}.${domain}`,
  value: `event-commerce-domain=${token}`,
  priority: null,
})

/** The texts at a name, or the reason why none were read. A name without a record has no texts. */
export type TxtAnswer = { ok: true; texts: readonly string[] } | { ok: false; code: 'timeout' | 'failure' }

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

/** The result of looking up the proof in DNS. */
export function checkOwnership(
  answer: TxtAnswer,
  proof: { domain: string; token: string },
): Exclude<CheckOutcome, `provider_${string}`> {
  if (!answer.ok) return answer.code === 'timeout' ? 'dns_timeout' : 'dns_failure'
  if (answer.texts.length === 0) return 'record_missing'
  const { value } = buildOwnershipRecord(proof)
  return answer.texts.some((text) => text.trim() === value) ? 'verified' : 'record_mismatch'
}

/** DNS has answered, and the proof is not in the answer. */
export const isProofGone = (outcome: CheckOutcome): boolean =>
  outcome === 'record_missing' || outcome === 'record_mismatch'

export const outcomeDetails: Record<CheckOutcome, string> = {
  verified: 'The domain is verified.',
  record_missing: 'There is no TXT record of that name. A new record may take a while to be seen.',
  record_mismatch: 'There are TXT records of that name, and none of them has the value.',
  dns_failure: 'The name system did not answer. Try again later.',
  dns_timeout: 'The name system took too long. Try again later.',
  provider_pending: 'The domain is proved. The provider that sends has not seen all of its records yet.',
  provider_unavailable: 'The domain is proved. The provider that sends could not be asked. Try again later.',
}
