import { toBcp47, type Language } from './languages.ts'

/** The currencies. All of them have two decimals. */
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

/** Largest amount in minor units that an order may reach; sums of such amounts stay exact. */
export const maxAmountMinor = 100_000_000_000

export const toMajor = (minor: number): number => minor / 100

/** The tolerated rounding error of a client, as a fraction of the amount: far below a third decimal. */
const tolerance = 2 ** -45

/** Minor units of an amount in major units, or null when it has more than two decimals. */
export function toMinor(major: number): number | null {
  const exact = major * 100
  const minor = Math.round(exact)
  return Math.abs(exact - minor) <= tolerance * Math.max(1, Math.abs(exact)) ? minor : null
}

/** The amount for programs: `1150.00 DKK`. */
export const formatMoney = (minor: number, currency: string): string =>
  `${minor < 0 ? '-' : ''}${Math.trunc(Math.abs(minor) / 100)}.${String(Math.abs(minor) % 100).padStart(2, '0')} ${currency.toUpperCase()}`

const formatters = new Map<string, Intl.NumberFormat>()

function formatterOf(language: Language, currency: string): Intl.NumberFormat {
  const key = `${language} ${currency}`
  const known = formatters.get(key)
  if (known) return known
  const made = new Intl.NumberFormat(toBcp47(language), { style: 'currency', currency })
  formatters.set(key, made)
  return made
}

/** The amount for people: `1.150,00 kr.` in Danish. All of its spaces are no-break ones. */
export const formatLocalMoney = (minor: number, currency: string, language: Language): string =>
  // Adding 0 takes the sign from -0.
  formatterOf(language, currency)
    .format(toMajor(minor) + 0)
    .replaceAll(/\s/g, '\u00A0')
