import { dropInvisible } from './invisible.ts'

const plainLetters: Record<string, string> = {
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

/** Apostrophes, quotation marks and hyphens that keyboards, programs and files write for one another. */
const spellings: Record<string, string> = {
  "'": '`\u02B9\u02BB\u02BC\u02BD\u2018\u2019\u201B\u2032',
  '"': '\u201C\u201D\u201E\u201F',
  '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212',
}

const replacements: Record<string, string> = {
  ...plainLetters,
  ...Object.fromEntries(Object.entries(spellings).flatMap(([mark, others]) => [...others].map((one) => [one, mark]))),
}
/** The keys of `replacements`. */
const replaceable = /[øæœłßđðþıħς`\u02B9\u02BB-\u02BD\u2018\u2019\u201B\u2032\u201C-\u201F\u2010-\u2015\u2212]/g

/** Separates the fields of a search text. Folded text has no line breaks, so no match spans two fields. */
export const searchSeparator = '\n'

/** NFKC and NFKD make a space and an accent of an acute accent that stands alone. */
export const replaceAcute = (text: string): string => text.replaceAll(/[\u00B4\u1FFD]/g, "'")

/**
 * The form in which texts are searched and compared: without case, accents, control characters and invisible characters,
 * and with one apostrophe, one quotation mark and one hyphen. Idempotent.
 */
export function fold(text: string): string {
  // Most texts are ASCII.
  if (/^[ -_a-~]*$/.test(text)) return text.toLowerCase()
  return dropInvisible(replaceAcute(text))
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(replaceable, (letter) => replacements[letter] ?? letter)
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
  const text = fold(needle)
  const minLength = /^\s*\(?\+/.test(text) ? 1 : 3
  return /^[\d\s+()./-]+$/.test(text) && extractDigits(text).length >= minLength ? listPhoneDigits(text) : []
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
