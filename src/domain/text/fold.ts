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
  // The same letter has another form at the end of a word; a search text may end inside a word.
  ς: 'σ',
}

/** Separates the fields inside a search text: folded text has no line breaks, so no match spans two fields. */
export const searchSeparator = '\n'

/** The form in which text is searched and compared: no case, no accents, no control characters. Idempotent. */
export function fold(text: string): string {
  // A fast path, because most texts have only these characters.
  if (/^[ -~]*$/.test(text)) return text.toLowerCase()
  return text
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

/** As short as this, zeros at the front are part of a number rather than a prefix. */
const shortestWithPrefix = 6

/**
 * Digits by which a telephone number in E.164 is found: what stands before a number only where it is dialled is left
 * out, `00` of another country, the `0` of one's own, and the `(0)` between.
 */
export function listPhoneDigits(needle: string): string[] {
  const digits = extractDigits(needle)
  if (digits === '') return []
  const dialled = extractDigits(needle.replace(/\(0\)/, '')).replace(/^0{1,2}(?=[1-9])/, '')
  return dialled.length >= shortestWithPrefix && dialled !== digits ? [digits, dialled] : [digits]
}

/** Digits of a needle that reads as a telephone number (at least three digits and nothing but number marks), or none. */
export const parsePhoneNeedles = (needle: string): string[] =>
  /^[\d\s+()./-]+$/.test(needle) && extractDigits(needle).length >= 3 ? listPhoneDigits(needle) : []
