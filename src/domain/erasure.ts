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

/** An address that continues in either direction is another address. */
const buildPattern = (spelling: string): RegExp => {
  const escaped = spelling.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return spelling.includes('@')
    ? new RegExp(String.raw`(?<![\p{L}\p{N}.!#$%&'*+=?^_{|}~-])${escaped}(?![\p{L}\p{N}-]|\.[\p{L}\p{N}])`, 'giu')
    : new RegExp(String.raw`${escaped}(?!\d)`, 'gu')
}

/** Replaces the addresses of an erased person in a text. */
export const eraseContacts = (text: string, contacts: ErasedContacts): string =>
  listSpellings(contacts).reduce((rest, spelling) => rest.replaceAll(buildPattern(spelling), erasedAddress), text)

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
