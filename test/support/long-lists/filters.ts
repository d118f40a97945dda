import { fold, listPhoneDigits, parsePhoneNeedles } from '../../../src/domain/text/fold.ts'
import type { Filter, SeenRow } from './model.ts'

/** A field of a row that has exactly this value. */
export const exactly = (read: (row: SeenRow) => string | null, missing: string): Filter => ({
  values: (row) => [read(row) ?? missing],
  others: [missing],
  matches: (row, value) => read(row) === value,
})

/** One of the words that the API knows; rows need not have all of them. */
export const oneOf = (words: readonly string[], read: (row: SeenRow) => string | null): Filter => ({
  values: (row) => [read(row) ?? words[0] ?? ''],
  others: words,
  matches: (row, value) => read(row) === value,
})

const createdOf = ({ shown }: SeenRow): number => Date.parse(shown.created)

const nearby = (row: SeenRow): string[] =>
  [-86_400_000, -1, 0, 0, 0, 1, 3_600_000].map((more) => new Date(createdOf(row) + more).toISOString())

const farAway = ['1990-01-01T00:00:00Z', '2090-01-01T01:00:00+01:00']

/** `created_after` includes its moment, and `created_before` excludes it. */
export const createdRange: Record<'created_after' | 'created_before', Filter> = {
  created_after: { values: nearby, others: farAway, matches: (row, value) => createdOf(row) >= Date.parse(value) },
  created_before: { values: nearby, others: farAway, matches: (row, value) => createdOf(row) < Date.parse(value) },
}

/** Texts in a filter are compared without case and accents. */
export const containsText = (texts: readonly (string | null)[], value: string): boolean =>
  texts.some((text) => text !== null && fold(text).includes(fold(value)))

const digitsIn = (text: string | null): string => (text ?? '').replaceAll(/\D/g, '')

/** Compares digits alone, also as they are dialled. */
export const containsDigits = (phones: readonly (string | null)[], value: string): boolean =>
  listPhoneDigits(value).some((digits) => phones.some((phone) => digitsIn(phone).includes(digits)))

/** As `containsText`, where a telephone number is found by its digits, too. */
export const containsTextOrDigits = (
  texts: readonly (string | null)[],
  phones: readonly (string | null)[],
  value: string,
): boolean =>
  [fold(value), ...parsePhoneNeedles(value)].some((needle) =>
    [...texts.map((text) => fold(text ?? '')), ...phones.map(digitsIn)].some((text) => text.includes(needle)),
  )
