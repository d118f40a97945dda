export type DestinationFault =
  | 'malformed'
  | 'credentials'
  | 'own_host'
  | 'protocol'
  | 'https'
  | 'port'
  | 'address'
  | 'bare_name'
  | 'private_name'

interface Policy {
  /** Permits http, ports, any host name and loopback addresses, for development and tests. */
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

/** URL writes every notation of an IPv4 address as four numbers, and IPv6 addresses in brackets. */
const isIpLiteral = (host: string): boolean => host.startsWith('[') || /^\d{1,3}(\.\d{1,3}){3}$/.test(host)
const isLoopback = (host: string): boolean => host === '[::1]' || host.startsWith('127.')

function checkUrl(text: string, policy: Policy): DestinationFault | null {
  // URL.parse silently drops white space and control characters, and reads a backslash as a slash.
  const url = /[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text)
  if (!url) return 'malformed'
  const host = url.hostname.toLowerCase().replace(/(?<!\.)\.+$/, '')
  if (host === '') return 'malformed'
  if (url.username || url.password) return 'credentials'
  if (policy.ownHosts.includes(host)) return 'own_host'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'protocol'
  if (policy.allowInsecure) return isIpLiteral(host) && !isLoopback(host) ? 'address' : null
  if (url.protocol !== 'https:') return 'https'
  if (isIpLiteral(host)) return 'address'
  if (!host.includes('.') && host !== 'localhost') return 'bare_name'
  if (closedSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))) return 'private_name'
  return url.port === '' ? null : 'port'
}

/** Parsing a URL is a tenth of the cost of a delivery. */
const cachedFaults = new WeakMap<Policy, Map<string, DestinationFault | null>>()

/** The one rule for where webhooks may go, checked at create, update and every attempt. Null for a permitted address. */
export function findDestinationFault(text: string, policy: Policy): DestinationFault | null {
  const faults = cachedFaults.get(policy) ?? new Map<string, DestinationFault | null>()
  cachedFaults.set(policy, faults)
  let fault = faults.get(text)
  if (fault === undefined) faults.set(text, (fault = checkUrl(text, policy)))
  return fault
}

const rules: Record<DestinationFault, string> = {
  malformed: '`url` is not a web address. Write it like https://hooks.example.com/events.',
  credentials: '`url` contains a user name or a password. Remove it, because events are sent without credentials.',
  own_host: '`url` points to this service itself.',
  protocol: '`url` must begin with https://.',
  https: '`url` must begin with https:// and not with http://.',
  port: '`url` must not name a port. Events are sent to port 443.',
  address: '`url` must contain a host name and not an IP address.',
  bare_name: 'The host name in `url` has no dot, so it is not a public name.',
  private_name: 'The host name in `url` is private, so events cannot reach it.',
}

const developmentHint = ' In development ALLOW_INSECURE_WEBHOOKS=1 permits it.'

/** True if the variable would permit the address. */
const isPermittedByVariable = (text: string, policy: Policy): boolean =>
  !policy.allowInsecure && checkUrl(text, { ...policy, allowInsecure: true }) === null

/** The error text, with the variable that permits the address in development if there is one. */
export const describeDestinationFault = (
  fault: DestinationFault,
  text: string,
  { policy, isDevelopment }: { policy: Policy; isDevelopment: boolean },
): string => rules[fault] + (isDevelopment && isPermittedByVariable(text, policy) ? developmentHint : '')
