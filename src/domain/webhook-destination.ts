/** Why a destination is refused; the answer never says more than that it is. */
export type DestinationFault = 'malformed' | 'forbidden'

interface Policy {
  /** Permits http, ports, any name and loopback: development and tests only. */
  allowInsecure: boolean
  /** Hosts of this service itself. */
  ownHosts: readonly string[]
}

const closedSuffixes = [
  'localhost',
  'local',
  'internal',
  'home.arpa',
  'lan',
  'onion',
  'invalid',
  'test',
  'nip.io',
  'sslip.io',
]

/** After the URL's own canonicalisation every notation of an IPv4 address is four numbers, of an IPv6 one in brackets. */
const isIpLiteral = (host: string): boolean => host.startsWith('[') || /^\d{1,3}(\.\d{1,3}){3}$/.test(host)
const isLoopback = (host: string): boolean => host === '[::1]' || host.startsWith('127.')

function judge(text: string, policy: Policy): DestinationFault | null {
  // The parser drops white space and control characters without a word, and takes a backslash for a slash.
  const url = /[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text)
  if (!url) return 'malformed'
  const host = url.hostname.toLowerCase().replace(/\.+$/, '')
  if (host === '') return 'malformed'
  if (url.username || url.password) return 'forbidden'
  if (policy.ownHosts.includes(host)) return 'forbidden'
  if (policy.allowInsecure) {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'forbidden'
    return isIpLiteral(host) && !isLoopback(host) ? 'forbidden' : null
  }
  if (url.protocol !== 'https:' || url.port !== '') return 'forbidden'
  if (isIpLiteral(host) || !host.includes('.')) return 'forbidden'
  return closedSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`)) ? 'forbidden' : null
}

/** What was said under a policy: to take a URL apart costs a tenth of what a whole delivery adds to its post. */
const judged = new WeakMap<Policy, Map<string, DestinationFault | null>>()

/** The one rule for where webhooks may go, asked at create, update, test and every attempt. Null when it may. */
export function destinationFault(text: string, policy: Policy): DestinationFault | null {
  const known = judged.get(policy) ?? new Map<string, DestinationFault | null>()
  judged.set(policy, known)
  let fault = known.get(text)
  if (fault === undefined) known.set(text, (fault = judge(text, policy)))
  return fault
}
