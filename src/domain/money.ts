import { bcp47, type Language } from './languages.ts'

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

/** The largest amount of an order in minor units. Sums of such amounts stay exact. */
export const maxAmountMinor = 100_000_000_000

export const toMajor = (minor: number): number => minor / 100

/** The accepted rounding error of a client, as a fraction of the amount. It is far smaller than a third decimal. */
const tolerance = 2 ** -45

/** Converts major to minor units. Answers null for an amount with more than two decimals. */
export function toMinor(major: number): number | null {
  const exact = major * 100
  const minor = Math.round(exact)
  return Math.abs(exact - minor) <= tolerance * Math.max(1, Math.abs(exact)) ? minor : null
}

/** Formats an amount without regard to language: `1150.00 DKK`. */
export function formatMoney(minor: number, currency: string): string {
  const [major, cents] = [Math.trunc(Math.abs(minor) / 100), Math.abs(minor) % 100]
  return `${minor < 0 ? '-' : ''}${major}.${String(cents).padStart(2, '0')} ${currency.toUpperCase()}`
}

const formatters = new Map<string, Intl.NumberFormat>()

function getFormatter(language: Language, currency: string): Intl.NumberFormat {
  const key = `${language} ${currency}`
  const existing = formatters.get(key)
  if (existing) return existing
  const formatter = new Intl.NumberFormat(bcp47(language), { style: 'currency', currency })
  formatters.set(key, formatter)
  return formatter
}

/** Formats an amount for a language: `1.150,00 kr.` in Danish. All spaces are no-break spaces. */
export const formatLocalMoney = (minor: number, currency: string, language: Language): string =>
  // Adding 0 turns -0 into 0.
  getFormatter(language, currency)
    .format(toMajor(minor) + 0)
    .replaceAll(/\s/g, '\u00A0')
