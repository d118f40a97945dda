import type { Schema } from '../../api'
import { formatMoney } from '../../words'

type Amounts = readonly { currency: Schema['RefundRequest']['currency']; amount: number }[]

/** Sums of several currencies are never added. */
export const formatAmounts = (amounts: Amounts): string =>
  amounts.length === 0 ? '–' : amounts.map(({ amount, currency }) => formatMoney(amount, currency)).join(' + ')
