import { fromBase64, toBase64Url, utf8 } from './encoding.ts'

/**
 * Tokens in the links of messages: what is meant and a MAC, in as few characters as that takes. 16 bytes of the
 * campaign's ULID, then kind, recipient and link as numbers of 1 to 8 bytes, then 8 bytes of HMAC-SHA256.
 */
export const linkKinds = ['click', 'open', 'unsubscribe', 'resubscribe'] as const
export type LinkKind = (typeof linkKinds)[number]

export interface LinkTarget {
  kind: LinkKind
  campaign_id: string
  n: number
  /** Which of the campaign's links; 0 for the other kinds. */
  link: number
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const prefix = 'cmp_'
const idBytes = 16
const macBytes = 8

function ulidBytes(id: string): Uint8Array | null {
  const text = id.startsWith(prefix) ? id.slice(prefix.length) : ''
  if (text.length !== 26) return null
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) return null
    value = (value << 5n) | BigInt(digit)
  }
  if (value >= 1n << 128n) return null
  return Uint8Array.from({ length: idBytes }, (_, index) =>
    Number((value >> BigInt(8 * (idBytes - 1 - index))) & 0xffn),
  )
}

function ulidText(bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  for (let index = 0; index < 26; index++) {
    text = (alphabet[Number(value & 31n)] ?? '') + text
    value >>= 5n
  }
  return prefix + text
}

function writeNumber(value: number, into: number[]): void {
  let rest = value
  while (rest >= 128) {
    into.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  into.push(rest)
}

function readNumber(bytes: Uint8Array, from: number): { value: number; next: number } | null {
  let value = 0
  let factor = 1
  for (let at = from; at < bytes.length && at - from < 8; at++) {
    const byte = bytes[at] ?? 0
    value += (byte % 128) * factor
    if (byte < 128) return Number.isSafeInteger(value) ? { value, next: at + 1 } : null
    factor *= 128
  }
  return null
}

/** The key of links. Kept, because making one takes longer than using it. */
const keys = new Map<string, Promise<CryptoKey>>()
function keyOf(secret: string): Promise<CryptoKey> {
  const known = keys.get(secret)
  if (known) return known
  const made = crypto.subtle.importKey(
    'raw',
    utf8(`campaign-links:${secret}`),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  keys.set(secret, made)
  return made
}

async function mac(secret: string, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), bytes)).slice(0, macBytes)
}

export async function mintLinkToken(secret: string, { kind, campaign_id, n, link }: LinkTarget): Promise<string> {
  const id = ulidBytes(campaign_id)
  if (!id) throw new Error(`${campaign_id} is no id of a campaign`)
  const content = [...id, linkKinds.indexOf(kind)]
  writeNumber(n, content)
  writeNumber(link, content)
  const bytes = Uint8Array.from(content)
  return toBase64Url(Uint8Array.from([...bytes, ...(await mac(secret, bytes))]))
}

/** What a token means; null for one that nobody with the key has made for this kind. */
export async function readLinkToken(secret: string, kind: LinkKind, token: string): Promise<LinkTarget | null> {
  // Without a key anybody could make tokens.
  if (secret === '' || !/^[\w-]{30,64}$/.test(token)) return null
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = fromBase64(token.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return null
  }
  // Characters that say nothing may not differ, or one link would have many tokens.
  if (toBase64Url(bytes) !== token || bytes.length < idBytes + 3 + macBytes) return null
  const content = bytes.slice(0, -macBytes)
  const expected = await mac(secret, content)
  const given = bytes.slice(-macBytes)
  let difference = 0
  for (let index = 0; index < macBytes; index++) difference |= (expected[index] ?? 0) ^ (given[index] ?? 0)
  if (difference !== 0 || linkKinds[content[idBytes] ?? -1] !== kind) return null
  const n = readNumber(content, idBytes + 1)
  const link = n && readNumber(content, n.next)
  if (!n || !link || link.next !== content.length) return null
  return { kind, campaign_id: ulidText(content.slice(0, idBytes)), n: n.value, link: link.value }
}
