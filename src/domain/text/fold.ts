import { dropInvisible } from './invisible.ts'

const letters: Record<string, string> = {
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  ł: 'l',
  ß: 'ss',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  // The form of sigma at the end of a word. A search text may end inside a word.
  ς: 'σ',
}

/** Separates the fields of a search text. Folded text has no line breaks, so no match spans two fields. */
export const searchSeparator = '\n'

/**
 * The form in which texts are searched and compared: without case, accents, control characters and invisible characters.
 * Idempotent.
 */
export function fold(text: string): string {
  // Most texts are ASCII.
  if (/^[ -~]*$/.test(text)) return text.toLowerCase()
  return dropInvisible(text)
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[øæœłßđðþıħς]/g, (letter) => letters[letter] ?? letter)
    .replaceAll(/\p{Cc}/gu, '')
}

export const extractDigits = (text: string): string => text.replaceAll(/\D/g, '')

export const buildSearchText = (...fields: (string | null | undefined)[]): string =>
  fields.flatMap((field) => (field ? [fold(field)] : [])).join(searchSeparator)

/** Zeros at the front of a shorter number are part of it and not a dialling prefix. */
const minPrefixedLength = 6

/**
 * The digits to look for in phone numbers in E.164: those of the search text, and those without the dialling prefixes
 * `00`, `0` and `(0)`, which E.164 does not have.
 */
export function listPhoneDigits(needle: string): string[] {
  const digits = extractDigits(needle)
  if (digits === '') return []
  const withoutPrefix = extractDigits(needle.replace(/\(0\)/, '')).replace(/^0{1,2}(?=[1-9])/, '')
  return withoutPrefix.length >= minPrefixedLength && withoutPrefix !== digits ? [digits, withoutPrefix] : [digits]
}

/**
 * The digits of a search text that looks like a phone number: no letters, and three digits or more, or a country code.
 * Otherwise none.
 */
export function parsePhoneNeedles(needle: string): string[] {
  const minLength = /^\s*\(?\+/.test(needle) ? 1 : 3
  return /^[\d\s+()./-]+$/.test(needle) && extractDigits(needle).length >= minLength ? listPhoneDigits(needle) : []
}

/**
 * Builds the key that lists sort a name by: without case and accents, and with each number behind its length, so that
 * Hall 9 comes before Hall 10.
 */
export const buildSortKey = (text: string): string =>
  fold(text).replaceAll(/\d+/g, (digits) => {
    const number = digits.replace(/^0+(?=\d)/, '')
    return `${String(number.length).padStart(2, '0')}${number}`
  })
