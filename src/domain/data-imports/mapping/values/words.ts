import { type Language, parseLanguage } from '../../../languages.ts'
import { currencies, type Currency } from '../../../money.ts'
import type { OrderStatus } from '../../../orders/orders.ts'
import { fold } from '../../../text/fold.ts'
import { maxParsedLength } from '../../import-cells.ts'
import data from './words.json' with { type: 'json' }

const maxWordLength = 200

const normalizeWord = (text: string): string =>
  text.length > maxWordLength
    ? text
    : fold(text)
        .replaceAll(/[\s_]+/g, ' ')
        .replace(/^[\s"'([#]+/, '')
        .replace(/(?<![\s"')\].!:;])[\s"')\].!:;]+$/, '')

/** The last cell is cached, because each cell is compared with several lists in turn. */
let last = { text: '', word: '' }

/** Folds a cell, removes punctuation at its ends and doubled spaces. */
export function toPlainWord(text: string): string {
  if (text !== last.text) last = { text, word: normalizeWord(text) }
  return last.word
}

const buildWords = (words: readonly string[]): ReadonlySet<string> => new Set(words.map(toPlainWord))

const yesWords = buildWords(data.yes)
const noWords = buildWords(data.no)
const freeWords = buildWords(data.free)

export function readBoolean(text: string): boolean | null {
  const word = toPlainWord(text)
  if (yesWords.has(word)) return true
  return noWords.has(word) ? false : null
}

export const isFree = (text: string): boolean => freeWords.has(toPlainWord(text))

/** `2 stk.` and `2x` become `2`. */
export const removeUnit = (text: string): string =>
  text.length > maxParsedLength
    ? text
    : text.replace(/^x ?(?=\d)|(?<=\d) ?(?:x|stk|stck|stück|st|szt|pcs?|stuks?)\.?$/i, '')

export type StatusMeaning = OrderStatus | 'refunded'

const statuses = Object.entries(data.statuses).map(
  ([meaning, words]) => [meaning as StatusMeaning, buildWords(words)] as const,
)

export function readStatus(text: string): StatusMeaning | null {
  const word = toPlainWord(text)
  return statuses.find(([, words]) => words.has(word))?.[0] ?? null
}

const languageNames = Object.entries(data.languages).map(
  ([language, names]) => [language as Language, buildWords(names)] as const,
)

/** Languages of files that this API does not support. */
const otherLanguages = /^(?:de|no|nb|nn|fi|fr|es|it|pt|is|cs|sk|hu|lt|lv|et|uk|ru|ro|tr|ar|zh|ja)(?:[-_]\w+(?:-\w+)*)?$/

/** Reads the language of a cell: `other` for an unsupported one, null for another text. */
export function readLanguage(text: string): Language | 'other' | null {
  if (text.length > maxParsedLength) return null
  const word = toPlainWord(text).replaceAll(' ', '-')
  const language = languageNames.find(([, names]) => names.has(word))?.[0]
  if (language) return language
  const isTag = /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*$/.test(word)
  return (isTag ? parseLanguage(word) : null) ?? (otherLanguages.test(word) ? 'other' : null)
}

/** Codes by the signs and short forms that people write, without dots and in small letters. */
const marks: Readonly<Record<string, string>> = data.currencies

export const isCurrency = (code: string): code is Currency => (currencies as readonly string[]).includes(code)

const longestMark = Math.max(...[...currencies, ...Object.keys(marks)].map(({ length }) => length))

/** `kr` for a crown of any country, null for other texts. */
export function readCurrencyMark(mark: string): string | null {
  // A dot may follow. Small letters never make a text shorter.
  if (mark.length > longestMark + 1) return null
  const key = mark.toLowerCase().replace(/\.$/, '')
  if (key.length > longestMark) return null
  const code = Object.hasOwn(marks, key) ? marks[key] : undefined
  return code ?? (isCurrency(key) || data.other_currencies.includes(key) ? key : null)
}

const crowns: readonly string[] = ['dkk', 'sek', 'nok']

export const allowsCurrency = (mark: string, currency: string): boolean =>
  mark === currency || (mark === 'kr' && crowns.includes(currency))
