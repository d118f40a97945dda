import { toAsciiDomain } from './domain-names.ts'

/** A name and an address, as in a `From` header. */
export interface Mailbox {
  name: string | null
  address: string
}

const addressPattern = /^[^\s<>()[\]\\,;:"@]+@[^\s<>()[\]\\,;:"@]+$/

/** Accepts exactly one address, without anything that a mail program could read as a second one. */
export const isEmailAddress = (text: string): boolean => addressPattern.test(text) && !/\p{Cc}/u.test(text)

/** Removes the quotes of a part before the `@`. `"anna"@example.dk` and `anna@example.dk` are one mailbox. */
export const unquoteLocalPart = (address: string): string =>
  address.replace(/^"((?:[^"\\]|\\.)+)"(?=@[^@]*$)/, (_, localPart: string) => localPart.replaceAll(/\\(.)/g, '$1'))

/** Parses `Name <address>` or an address alone. Returns null for any other text. */
export function parseMailbox(text: string): Mailbox | null {
  const trimmedText = text.trim()
  const bracketAt = trimmedText.endsWith('>') ? trimmedText.lastIndexOf('<') : -1
  const [name, inBrackets] =
    bracketAt < 0 ? ['', trimmedText] : [trimmedText.slice(0, bracketAt).trim(), trimmedText.slice(bracketAt + 1, -1)]
  if (!isEmailAddress(inBrackets) || /[\r\n\u2028\u2029]/.test(name)) return null
  const unquotedName = name.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1')
  return { name: unquotedName || null, address: inBrackets }
}

/** Names that need no quotes. `=?` needs them, because mail programs would decode it as an encoded word. */
const plainName = /^(?!.*=\?)[\p{L}\p{N}\p{M} !#$%&'*+/=?^_`{|}~-]*$/u

/** Formats a mailbox for a header. A name that could be misread is quoted. */
export function formatMailbox({ name, address: at }: Mailbox): string {
  if (!name) return at
  return `${plainName.test(name) ? name : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`} <${at}>`
}

const maxName = 120

const controls = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/** Characters that reverse the direction of a text. */
const directions = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/g

/** Shortens a name to one line that mail programs show in full. */
export const toDisplayName = (text: string): string | null =>
  [...text.replaceAll(directions, '').replaceAll(controls, ' ')].slice(0, maxName).join('').trim() || null

/** True if the text looks like it contains an address, even with invisible characters in it. */
const containsAddress = (text: string): boolean =>
  /[^\s@]@[^\s@]/.test(text.normalize('NFKC').replaceAll(/\p{Cf}+/gu, ''))

/** Some mail programs decode encoded words and then show another text than the one that was checked. */
const isEncoded = (text: string): boolean => text.includes('=?')

/** Finds why a sender may not have this name. Returns null when it may. */
export function findSenderNameFault(name: string): 'invalid_characters' | 'holds_address' | null {
  if (name.search(controls) >= 0 || name.search(directions) >= 0 || isEncoded(name)) return 'invalid_characters'
  return containsAddress(name) ? 'holds_address' : null
}

/** Returns null for a name that a sender may not have. */
function toSenderName(text: string | null): string | null {
  const name = toDisplayName(text ?? '')
  return name === null || isEncoded(name) || containsAddress(name) ? null : name
}

export interface SenderFields {
  /** Candidates for the name, of which the first allowed one is used. */
  names: readonly (string | null)[]
  address: string | null
  reply_to: string | null
  /** True if the organisation has proved that the domain of the address is its own. */
  is_verified: boolean
}

/**
 * Chooses the sender of an e-mail. `From` never has an address of an unverified domain: it has the platform's address
 * then, and replies go to the organisation's. Invalid addresses are left out.
 */
export function chooseSender(fields: SenderFields, platform: Mailbox): { from: Mailbox; replyTo: string | null } {
  const { names, address, reply_to, is_verified } = fields
  const isUsable = is_verified && address !== null && isEmailAddress(address)
  const replyAddresses = [reply_to, isUsable ? null : address]
  return {
    from: {
      name: [...names, platform.name].map(toSenderName).find((name) => name !== null) ?? null,
      address: isUsable ? address : platform.address,
    },
    replyTo: replyAddresses.find((reply) => reply !== null && isEmailAddress(reply)) ?? null,
  }
}

/** Converts the domain of an address to ASCII, which providers require. */
export function toAsciiAddress(text: string): string {
  const at = text.lastIndexOf('@') + 1
  if (/^[\x21-\x7e]*(?<!\.)$/.test(text.slice(at))) return text
  const domain = toAsciiDomain(text.slice(at))
  return domain !== null && /^[a-z0-9.-]+$/.test(domain) ? text.slice(0, at) + domain : text
}

/** Mail programs show their own button to unsubscribe for these headers. Absent without an address. */
export const buildUnsubscribeHeaders = (url: string): Record<string, string> =>
  url === '' ? {} : { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
