/** All seven have two decimals. */
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

/** What the arithmetic of a client may be off by, as a share of the amount: far below a third decimal of any amount. */
const tolerance = 2 ** -45

/** Minor units of an amount in major units, or null when it has more than two decimals. */
export function toMinor(major: number): number | null {
  const exact = major * 100
  const minor = Math.round(exact)
  return Math.abs(exact - minor) <= tolerance * Math.max(1, Math.abs(exact)) ? minor : null
}

export const formatMoney = (minor: number, currency: string): string =>
  `${minor < 0 ? '-' : ''}${Math.trunc(Math.abs(minor) / 100)}.${String(Math.abs(minor) % 100).padStart(2, '0')} ${currency.toUpperCase()}`
