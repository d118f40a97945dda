import { normalizeEmail, normalizePhone } from './accounts/users.ts'
import { listTexts } from './cel/parse.ts'
import { toAsciiAddress } from './messaging/mailbox.ts'

/**
 * Stands for the address of an erased person. No address and no number contains brackets, so no comparison with it
 * holds. It is as short as the shortest address, so that no expression becomes too long.
 */
const erasedAddress = '(gone)'

/** The addresses of an erased person, in the form in which addresses are stored. */
export interface ErasedContacts {
  emails: ReadonlySet<string>
  phones: ReadonlySet<string>
}

/** The usual spellings of the addresses, in lower case. */
export const listSpellings = ({ emails, phones }: ErasedContacts): string[] => [
  ...new Set([...emails, ...[...emails].map(toAsciiAddress), ...phones]),
]

const isErased = (text: string, { emails, phones }: ErasedContacts): boolean =>
  emails.has(normalizeEmail(text) ?? '') || phones.has(normalizePhone(text, null) ?? '')

/** A word of a text, and the marks around it that may be part of an address. */
const word = /[\p{L}\p{N}\p{M}.!#$%&'*+=?^_{|}~@/-]+/gu
const phoneInText = /\+\d+/g

/** Replaces the addresses of an erased person in a text. An address that continues on either side is another address. */
export function eraseContacts(text: string, contacts: ErasedContacts): string {
  const replace = (address: string): string => (isErased(address, contacts) ? erasedAddress : address)
  return text
    .replaceAll(word, (part) => {
      const start = part.startsWith("'") ? 1 : 0
      const end = part.search(/['.!?]$/)
      const address = part.slice(start, end === -1 ? undefined : end)
      return address.includes('@') ? part.replace(address, () => replace(address)) : part
    })
    .replaceAll(phoneInText, replace)
}

export const containsContact = (text: string, contacts: ErasedContacts): boolean =>
  isErased(text, contacts) || eraseContacts(text, contacts) !== text

/** Replaces the addresses of an erased person in an expression, in any spelling. A valid expression stays valid. */
export function eraseInExpression(source: string, contacts: ErasedContacts): string {
  const literals = listTexts(source).filter(({ text }) => isErased(text, contacts))
  const erased = literals.reduceRight(
    (rest, { start, end }) => rest.slice(0, start) + JSON.stringify(erasedAddress) + rest.slice(end),
    source,
  )
  return eraseContacts(erased, contacts)
}
