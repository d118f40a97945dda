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

const plainName = /^[\p{L}\p{N}\p{M} !#$%&'*+/=?^_`{|}~-]*$/u

/** As it stands in a header; a name that could be read otherwise is quoted. */
export function formatMailbox({ name, address: at }: Mailbox): string {
  if (!name) return at
  return `${plainName.test(name) ? name : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`} <${at}>`
}
