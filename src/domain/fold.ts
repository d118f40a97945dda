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
  // The same letter at the end of a word, which the part of a word does not know.
  ς: 'σ',
}

/** Separates the fields inside a `search` column: folded text never contains it, so no match spans two fields. */
export const searchSeparator = '\u001f'

/** The form in which text is searched and compared: no case, no accents, no control characters. Idempotent. */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[øæœłßđðþıħς]/g, (letter) => letters[letter] ?? letter)
    .replaceAll(/\p{Cc}/gu, '')
}

export const digitsOf = (text: string): string => text.replaceAll(/\D/g, '')

export const searchText = (...fields: (string | null | undefined)[]): string =>
  fields.flatMap((field) => (field ? [fold(field)] : [])).join(searchSeparator)

/** Digits of a needle that reads as a telephone number (at least three digits and nothing but number marks), or null. */
export function phoneNeedle(needle: string): string | null {
  const digits = digitsOf(needle)
  return digits.length >= 3 && /^[\d\s+()./-]+$/.test(needle) ? digits : null
}
