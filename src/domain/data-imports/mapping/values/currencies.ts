import { currencies, type Currency } from '../../../money.ts'

/** Signs and short forms as people write them, without dots and in small letters. */
const marks: Readonly<Record<string, string>> = {
  '€': 'eur',
  euro: 'eur',
  euros: 'eur',
  '£': 'gbp',
  '£stg': 'gbp',
  $: 'usd',
  us$: 'usd',
  kr: 'kr',
  kroner: 'kr',
  kronor: 'kr',
  dkr: 'dkk',
  skr: 'sek',
  nkr: 'nok',
  zł: 'pln',
  zl: 'pln',
  złotych: 'pln',
}

/** Codes in files that are no currencies of this API. */
const others =
  /^(?:aud|bgn|brl|cad|chf|cny|czk|hkd|hrk|huf|ils|inr|isk|jpy|krw|mxn|myr|nzd|php|ron|rsd|sgd|thb|try|twd|uah|zar)$/

export const isCurrency = (code: string): code is Currency => (currencies as readonly string[]).includes(code)

const longestMark = Math.max(...[...currencies, ...Object.keys(marks)].map(({ length }) => length))

/** The code of a mark beside an amount; `kr` for a crown of any country, null for what is no currency. */
export function currencyOfMark(mark: string): string | null {
  // With the dot behind it. Small letters never make a text shorter.
  if (mark.length > longestMark + 1) return null
  const plain = mark.toLowerCase().replace(/\.$/, '')
  if (plain.length > longestMark) return null
  const known = Object.hasOwn(marks, plain) ? marks[plain] : undefined
  return known ?? (isCurrency(plain) || others.test(plain) ? plain : null)
}

const crowns: readonly string[] = ['dkk', 'sek', 'nok']

/** Whether an amount with this mark can be one of an order in this currency. */
export const marksCurrency = (mark: string, currency: string): boolean =>
  mark === currency || (mark === 'kr' && crowns.includes(currency))
