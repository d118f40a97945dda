/** A name and an address, as in a From header. */
export interface Mailbox {
  name: string | null
  address: string
}

const address = /^[^\s<>()[\]\\,;:"@]+@[^\s<>()[\]\\,;:"@]+$/

/** One address and nothing that could be taken for two, or for more than an address. */
export const isAddress = (text: string): boolean => address.test(text) && !/\p{Cc}/u.test(text)

/** `Name <address>` or an address alone; null when it is neither. */
export function parseMailbox(text: string): Mailbox | null {
  const [, name, inBrackets] = /^\s*(.*?)\s*<([^<>]*)>\s*$/.exec(text) ?? [null, '', text.trim()]
  if (!inBrackets || !isAddress(inBrackets)) return null
  const plain = (name ?? '').replace(/^"(.*)"$/, '$1').replaceAll(/\\(.)/g, '$1')
  return { name: plain || null, address: inBrackets }
}

/** No `=?`: what looks like an encoded word would be decoded by whoever shows it. */
const plainName = /^(?!.*=\?)[\p{L}\p{N}\p{M} !#$%&'*+/=?^_`{|}~-]*$/u

/** As it stands in a header; a name that could be read otherwise is quoted. */
export function formatMailbox({ name, address: at }: Mailbox): string {
  if (!name) return at
  return `${plainName.test(name) ? name : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`} <${at}>`
}

const maxName = 120

/** A name for a header, of what people are called: one line, and no longer than clients show. */
export const displayName = (text: string): string | null =>
  [...text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]+/gu, ' ')].slice(0, maxName).join('').trim() ||
  null

/** The address with its domain as the name system spells it; providers take no other. */
export function asciiAddress(text: string): string {
  const at = text.lastIndexOf('@') + 1
  const domain = text.slice(at)
  if (/^[\x21-\x7e]*$/.test(domain) || !URL.canParse(`http://${domain}`)) return text
  const { hostname } = new URL(`http://${domain}`)
  return /^[a-z0-9.-]+$/.test(hostname) ? text.slice(0, at) + hostname : text
}
