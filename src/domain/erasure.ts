import { listNumberForms, normalizeEmail, normalizePhone } from './accounts/users.ts'
import { listTexts } from './cel/parse.ts'
import { toAsciiAddress } from './messaging/mailbox.ts'
import { minPhoneDigits } from './orders/erased-order-ids.ts'
import { extractDigits } from './text/fold.ts'
import { cleanKey } from './text/invisible.ts'

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

/**
 * True if a text contains an address or a number of the person, even inside a longer word as in `2026-anna@example.dk`.
 * Only for texts of the person's own orders: elsewhere the longer word may be the address of somebody else.
 */
export function containsContactInWord(text: string, contacts: ErasedContacts): boolean {
  const normalizedText = cleanKey(text).normalize('NFKC').toLowerCase()
  const digits = extractDigits(normalizedText)
  const numbers = [...contacts.phones].flatMap(listNumberForms).filter(({ length }) => length >= minPhoneDigits)
  return (
    numbers.some((number) => digits.includes(number)) ||
    listSpellings(contacts).some((spelling) => normalizedText.includes(spelling))
  )
}

/** Removes the entries of a JSON object whose name or value contains an address of the person. */
export const eraseEntries = (entries: Readonly<Record<string, unknown>>, contacts: ErasedContacts) =>
  Object.fromEntries(
    Object.entries(entries).filter(
      ([name, value]) =>
        !containsContact(name, contacts) &&
        !containsContact(typeof value === 'string' ? value : JSON.stringify(value), contacts),
    ),
  )

/** Replaces the addresses of an erased person in an expression, in any spelling. A valid expression stays valid. */
export function eraseInExpression(source: string, contacts: ErasedContacts): string {
  const literals = listTexts(source).filter(({ text }) => isErased(text, contacts))
  const erasedText = literals.reduceRight(
    (rest, { start, end }) => rest.slice(0, start) + JSON.stringify(erasedAddress) + rest.slice(end),
    source,
  )
  return eraseContacts(erasedText, contacts)
}
