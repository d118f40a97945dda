/** A name and an address, as in a From header. */
export interface Mailbox {
  name: string | null
  address: string
}

const address = /^[^\s<>()[\]\\,;:"@]+@[^\s<>()[\]\\,;:"@]+$/

/** One address and nothing that could be taken for two, or for more than an address. */
export const isEmailAddress = (text: string): boolean => address.test(text) && !/\p{Cc}/u.test(text)

/** `Name <address>` or an address alone; null when it is neither. */
export function parseMailbox(text: string): Mailbox | null {
  const trimmed = text.trim()
  const open = trimmed.endsWith('>') ? trimmed.lastIndexOf('<') : -1
  const [name, inBrackets] = open < 0 ? ['', trimmed] : [trimmed.slice(0, open).trim(), trimmed.slice(open + 1, -1)]
  if (!isEmailAddress(inBrackets) || /[\r\n\u2028\u2029]/.test(name)) return null
  const plain = name.replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1')
  return { name: plain || null, address: inBrackets }
}

/** No `=?`: mail programs would decode what looks like an encoded word. */
const plainName = /^(?!.*=\?)[\p{L}\p{N}\p{M} !#$%&'*+/=?^_`{|}~-]*$/u

/** The form for a header; a name that could be read otherwise is quoted. */
export function formatMailbox({ name, address: at }: Mailbox): string {
  if (!name) return at
  return `${plainName.test(name) ? name : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`} <${at}>`
}

const maxName = 120

const controls = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/** Characters that reverse the order in which a text is shown. */
const directions = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/g

/** A name in the form for a header: one line, and no longer than clients show. */
export const toDisplayName = (text: string): string | null =>
  [...text.replaceAll(directions, '').replaceAll(controls, ' ')].slice(0, maxName).join('').trim() || null

/** Whether the shown text contains an address, also with invisible characters in it. */
const containsAddress = (text: string): boolean =>
  /[^\s@]@[^\s@]/.test(text.normalize('NFKC').replaceAll(/\p{Cf}+/gu, ''))

/** Some clients decode encoded words, and then show another text than the checked one. */
const isEncoded = (text: string): boolean => text.includes('=?')

/** The reason why a sender may not have this name; null when it may. */
export function findSenderNameFault(name: string): 'invalid_characters' | 'holds_address' | null {
  if (name.search(controls) >= 0 || name.search(directions) >= 0 || isEncoded(name)) return 'invalid_characters'
  return containsAddress(name) ? 'holds_address' : null
}

/** The name in the form for a sender; null for one that shows an address. */
function toSenderName(text: string | null): string | null {
  const name = toDisplayName(text ?? '')
  return name === null || isEncoded(name) || containsAddress(name) ? null : name
}

export interface SenderFields {
  /** The first name that a sender may have. */
  names: readonly (string | null)[]
  address: string | null
  reply_to: string | null
  /** Whether the organisation has proved that the domain of the address is its own. */
  is_verified: boolean
}

/**
 * The sender of an e-mail. An address of an unverified domain is never in `From`: the platform's stands
 * there, and answers go to the other one. What is no address is left out.
 */
export function chooseSender(fields: SenderFields, platform: Mailbox): { from: Mailbox; replyTo: string | null } {
  const { names, address: own, reply_to, is_verified } = fields
  const isOwn = is_verified && own !== null && isEmailAddress(own)
  const replies = [reply_to, isOwn ? null : own]
  return {
    from: {
      name: [...names, platform.name].map(toSenderName).find((name) => name !== null) ?? null,
      address: isOwn ? own : platform.address,
    },
    replyTo: replies.find((one) => one !== null && isEmailAddress(one)) ?? null,
  }
}

/** The address with its domain in the form of DNS, which providers require. */
export function toAsciiAddress(text: string): string {
  const at = text.lastIndexOf('@') + 1
  const domain = text.slice(at)
  if (/^[\x21-\x7e]*$/.test(domain) || !URL.canParse(`http://${domain}`)) return text
  const { hostname } = new URL(`http://${domain}`)
  return /^[a-z0-9.-]+$/.test(hostname) ? text.slice(0, at) + hostname : text
}
