import { currencies, type Currency } from '../../../money.ts'
import data from './words.json' with { type: 'json' }

/** Codes by the signs and short forms that people write, without dots and in small letters. */
const marks: Readonly<Record<string, string>> = data.currencies

export const isCurrency = (code: string): code is Currency => (currencies as readonly string[]).includes(code)

const longestMark = Math.max(...[...currencies, ...Object.keys(marks)].map(({ length }) => length))

/** `kr` for a crown of any country, null for other texts. */
export function readCurrencyMark(mark: string): string | null {
  // A dot may follow. Small letters never make a text shorter.
  if (mark.length > longestMark + 1) return null
  const plain = mark.toLowerCase().replace(/\.$/, '')
  if (plain.length > longestMark) return null
  const code = Object.hasOwn(marks, plain) ? marks[plain] : undefined
  return code ?? (isCurrency(plain) || data.other_currencies.includes(plain) ? plain : null)
}

const crowns: readonly string[] = ['dkk', 'sek', 'nok']

export const allowsCurrency = (mark: string, currency: string): boolean =>
  mark === currency || (mark === 'kr' && crowns.includes(currency))
