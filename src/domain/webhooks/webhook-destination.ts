/** The rule that a destination breaks. */
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

/** Cached results for a policy, because parsing a URL is a tenth of a delivery's own cost. */
const judged = new WeakMap<Policy, Map<string, DestinationFault | null>>()

/**
 * The one rule for where webhooks may go, checked at create, update, test and every attempt. Null for a valid address.
 */
export function destinationFault(text: string, policy: Policy): DestinationFault | null {
  const known = judged.get(policy) ?? new Map<string, DestinationFault | null>()
  judged.set(policy, known)
  let fault = known.get(text)
  if (fault === undefined) known.set(text, (fault = judge(text, policy)))
  return fault
}

const rules: Record<DestinationFault, string> = {
  malformed: 'This is not a web address. Write it as https://hooks.example.com/events.',
  credentials: 'The address contains a user name or a password, and events carry none. Take it out.',
  own_host: 'The address is of this service itself.',
  protocol: 'Events are sent over https only.',
  https: 'Events are sent over https only. Write https:// in place of http://.',
  port: 'Events are sent to port 443 only. Leave the port out.',
  address: 'Events are not sent to an IP address, private or public. Write the name of a host.',
  bare_name: 'The name of the host has no point: it leads nowhere outside of its own network.',
  private_name: 'The name of the host is private: it leads nowhere outside of its own network or machine.',
}

const permitted = ' In development ALLOW_INSECURE_WEBHOOKS=1 permits it.'

/** Whether the variable would permit the address. */
const permits = (text: string, policy: Policy): boolean =>
  !policy.allowInsecure && judge(text, { ...policy, allowInsecure: true }) === null

/** The rule as text; in development with the variable that permits the address, if there is one. */
export const destinationRefusal = (
  fault: DestinationFault,
  text: string,
  { policy, isDevelopment }: { policy: Policy; isDevelopment: boolean },
): string => rules[fault] + (isDevelopment && permits(text, policy) ? permitted : '')
