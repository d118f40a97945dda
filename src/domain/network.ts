const isV4 = (address: string): boolean => /^\d{1,3}(\.\d{1,3}){3}$/.test(address)

/** The eight groups of an IPv6 address, or null. An IPv4 tail counts as two groups and stays one text. */
function parseGroups(address: string): string[] | null {
  const [head = '', tail, excess] = address.split('::')
  if (excess !== undefined || !/^[\da-f:.]+$/.test(address)) return null
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const width = [...left, ...right].reduce((sum, group) => sum + (group.includes('.') ? 2 : 1), 0)
  const missingGroups = tail === undefined ? 0 : 8 - width
  if (missingGroups < 0 || width + missingGroups !== 8) return null
  return [...left, ...Array.from({ length: missingGroups }, () => '0'), ...right]
}

/** The part of an IP address that does not identify a person: 24 bits of IPv4 or 48 bits of IPv6. */
export function parseNetworkPrefix(address: string | undefined): string | null {
  const network = parseNetwork(address)
  if (network === null) return null
  if (isV4(network)) return `${network.split('.').slice(0, 3).join('.')}.0/24`
  return `${network.split(':').slice(0, 3).join(':')}::/48`
}

/**
 * The network that rate limits count: an IPv4 address, or the first 64 bits of an IPv6 address, because one client owns
 * all addresses behind them. Null: the text is not an IP address.
 */
export function parseNetwork(address: string | undefined): string | null {
  const text = (address ?? '').trim().toLowerCase()
  if (isV4(text)) return text
  const groups = parseGroups(text)
  if (!groups) return null
  const last = groups.at(-1) ?? ''
  if (isV4(last)) return last
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
