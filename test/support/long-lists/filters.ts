import { fold, listPhoneDigits, parsePhoneNeedles } from '../../../src/domain/text/fold.ts'
import type { Filter, SeenRow } from './model.ts'

/** Matches rows whose field has exactly this value. */
export const matchExactly = (read: (row: SeenRow) => string | null, missing: string): Filter => ({
  values: (row) => [read(row) ?? missing],
  others: [missing],
  matches: (row, value) => read(row) === value,
})

/** Matches rows by a word that the API knows, even if no row has it. */
export const matchOneOf = (words: readonly string[], read: (row: SeenRow) => string | null): Filter => ({
  values: (row) => [read(row) ?? words[0] ?? ''],
  others: words,
  matches: (row, value) => read(row) === value,
})

const createdOf = ({ shown }: SeenRow): number => Date.parse(shown.created)

const nearby = (row: SeenRow): string[] =>
  [-86_400_000, -1, 0, 0, 0, 1, 3_600_000].map((more) => new Date(createdOf(row) + more).toISOString())

const farAway = ['1990-01-01T00:00:00Z', '2090-01-01T01:00:00+01:00']

/** `created_after` includes its time, and `created_before` excludes it. */
export const createdRange: Record<'created_after' | 'created_before', Filter> = {
  created_after: { values: nearby, others: farAway, matches: (row, value) => createdOf(row) >= Date.parse(value) },
  created_before: { values: nearby, others: farAway, matches: (row, value) => createdOf(row) < Date.parse(value) },
}

/** Matches texts without regard to case and accents. */
export const containsText = (texts: readonly (string | null)[], value: string): boolean =>
  texts.some((text) => text !== null && fold(text).includes(fold(value)))

const pickDigits = (text: string | null): string => (text ?? '').replaceAll(/\D/g, '')

/** Matches digits only, also as they are dialled. */
export const containsDigits = (phones: readonly (string | null)[], value: string): boolean =>
  listPhoneDigits(value).some((digits) => phones.some((phone) => pickDigits(phone).includes(digits)))

/** Like `containsText`, and also matches a telephone number by its digits. */
export const containsTextOrDigits = (
  texts: readonly (string | null)[],
  phones: readonly (string | null)[],
  value: string,
): boolean =>
  [fold(value), ...parsePhoneNeedles(value)].some((needle) =>
    [...texts.map((text) => fold(text ?? '')), ...phones.map(pickDigits)].some((text) => text.includes(needle)),
  )

/** The words of a search text, or the whole text when it has none. */
const splitIntoWords = (value: string): string[] => {
  const words = value.split(/[\s,;]+/).filter((word) => fold(word) !== '')
  return words.length > 0 ? words.slice(0, 10) : [value]
}

/** Matches when the text contains each word, in any order. */
export const containsWords = (text: string, value: string): boolean =>
  splitIntoWords(value).every((word) => fold(word) !== '' && fold(text).includes(fold(word)))

/** Matches a telephone number, or words of the texts and numbers in any order. */
export const containsWordsOrPhone = (
  texts: readonly (string | null)[],
  phones: readonly (string | null)[],
  value: string,
): boolean =>
  parsePhoneNeedles(value).length > 0
    ? containsTextOrDigits(texts, phones, value)
    : splitIntoWords(value).every((word) => containsTextOrDigits(texts, phones, word))

/** Matches rows for which a field is true, or false. */
export const flag = (read: (row: SeenRow) => boolean): Filter => ({
  values: (row) => (read(row) ? ['true', '1'] : ['false', '0']),
  others: ['true', 'false'],
  matches: (row, value) => read(row) === ['true', '1'].includes(value),
})
