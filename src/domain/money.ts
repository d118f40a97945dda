import { toBcp47, type Language } from './languages.ts'

/** All of these currencies have two decimals. */
export const currencies = ['eur', 'usd', 'gbp', 'pln', 'dkk', 'sek', 'nok'] as const
export type Currency = (typeof currencies)[number]

export const currencyLabels: Record<Currency, string> = {
  eur: 'Euro',
  usd: 'US dollar',
  gbp: 'Pound sterling',
  pln: 'Polish złoty',
  dkk: 'Danish krone',
  sek: 'Swedish krona',
  nok: 'Norwegian krone',
}

/** The largest amount of an order. Sums of such amounts stay exact. */
export const maxAmountMinor = 100_000_000_000

export const toMajor = (minor: number): number => minor / 100

/** The accepted rounding error of a client's number, relative to the amount. */
const tolerance = 2 ** -45

/** Multiplies a decimal number by a power of ten. Null: the result is no integer. */
export function toUnits(value: number, unitsPerOne: number): number | null {
  const exactUnits = value * unitsPerOne
  const units = Math.round(exactUnits)
  return Math.abs(exactUnits - units) <= tolerance * Math.abs(exactUnits) ? units : null
}

/** Converts an amount to minor units. Null: it has more than two decimals. */
export const toMinor = (major: number): number | null => toUnits(major, 100)

/** Formats an amount for programs: `1150.00 DKK`. */
export const formatMoney = (minor: number, currency: string): string =>
  `${minor < 0 ? '-' : ''}${Math.trunc(Math.abs(minor) / 100)}.${String(Math.abs(minor) % 100).padStart(2, '0')} ${currency.toUpperCase()}`

const formatters = new Map<string, Intl.NumberFormat>()

function getFormatter(language: Language, currency: string): Intl.NumberFormat {
  const key = `${language} ${currency}`
  const cachedFormatter = formatters.get(key)
  if (cachedFormatter) return cachedFormatter
  const formatter = new Intl.NumberFormat(toBcp47(language), { style: 'currency', currency })
  formatters.set(key, formatter)
  return formatter
}

/** Formats an amount for people: `1.150,00 kr.` in Danish. All spaces are no-break spaces. */
export const formatLocalMoney = (minor: number, currency: string, language: Language): string =>
  // Adding 0 turns -0 into 0.
  getFormatter(language, currency)
    .format(toMajor(minor) + 0)
    .replaceAll(/\s/g, '\u00A0')
