import { type Currency, toUnits } from '../money.ts'

/** The price of one part of an SMS. Parts cost fractions of a cent, so `amount` is in ten-thousandths of a major unit. */
export interface SmsPrice {
  amount: number
  currency: Currency
}

const unitsPerMajor = 10_000
/** In major units. */
export const maxSmsPrice = 1000

/** Parses an amount in major units. Null: it has more than four decimals. */
export const parseSmsPrice = (major: number): number | null => toUnits(major, unitsPerMajor)

export const toMajorSmsPrice = (amount: number): number => amount / unitsPerMajor

/** Computes the price of parts in minor units. */
export const computeSmsCost = ({ amount }: SmsPrice, parts: number): number =>
  Math.round((amount * parts * 100) / unitsPerMajor)
