import type { Currency } from '../money.ts'
import { dayMs } from '../time/instants.ts'

export const editionStatuses = ['upcoming', 'current', 'past', 'no_dates'] as const
export type EditionStatus = (typeof editionStatuses)[number]

export interface Period {
  start_at: number | null
  end_at: number | null
}

/** An edition without an end is past this long after its start. */
export const openEndedMs = dayMs

export function getEditionStatus({ start_at, end_at }: Period, now: number): EditionStatus {
  if (start_at === null && end_at === null) return 'no_dates'
  if (start_at !== null && start_at > now) return 'upcoming'
  if (end_at !== null) return end_at < now ? 'past' : 'current'
  return start_at !== null && start_at + openEndedMs < now ? 'past' : 'current'
}

export const endsBeforeStart = ({ start_at, end_at }: Period): boolean =>
  start_at !== null && end_at !== null && end_at < start_at

export const countryCodes = [
  '+43',
  '+32',
  '+45',
  '+358',
  '+33',
  '+49',
  '+31',
  '+47',
  '+48',
  '+46',
  '+41',
  '+44',
  '+1',
] as const
export type CountryCode = (typeof countryCodes)[number]

export const countryLabels: Record<CountryCode, string> = {
  '+43': 'Austria',
  '+32': 'Belgium',
  '+45': 'Denmark',
  '+358': 'Finland',
  '+33': 'France',
  '+49': 'Germany',
  '+31': 'Netherlands',
  '+47': 'Norway',
  '+48': 'Poland',
  '+46': 'Sweden',
  '+41': 'Switzerland',
  '+44': 'United Kingdom',
  '+1': 'United States',
}

const currencyByCountry: Partial<Record<CountryCode, Currency>> = {
  '+45': 'dkk',
  '+46': 'sek',
  '+47': 'nok',
  '+48': 'pln',
  '+44': 'gbp',
  '+1': 'usd',
}

/** The currency of a new edition in this country. */
export const pickDefaultCurrency = (country: CountryCode): Currency => currencyByCountry[country] ?? 'eur'

export const taxTypes = ['none', 'vat', 'sales'] as const
export type TaxType = (typeof taxTypes)[number]

export const taxTypeLabels: Record<TaxType, string> = { none: 'No tax', vat: 'VAT', sales: 'Sales tax' }

export const taxTypeDescriptions: Record<TaxType, string> = {
  none: 'Prices carry no tax.',
  vat: 'Value added tax.',
  sales: 'Tax on sales, as in the United States.',
}

export const smsSenderNames = ['Unset', 'Platform', 'Store'] as const
export type SmsSenderName = (typeof smsSenderNames)[number]

export const smsSenderDescriptions: Record<SmsSenderName, string> = {
  Unset: 'No sender has been chosen.',
  Platform: 'Messages come from the operator of the platform.',
  Store: 'Messages come from the organisation.',
}

/** The types of e-mail messages that an edition can send as its receipt or refund confirmation. */
export const receiptEmailTypes = ['receipt', 'receipt_online'] as const
export const refundConfirmationEmailTypes = ['refund_confirmation'] as const

/** The name of an edition after the name of its event, unless it begins with that name already. */
export const formatEditionName = (eventName: string, name: string): string =>
  name.toLowerCase().startsWith(eventName.toLowerCase()) ? name : `${eventName} ${name}`

/** The time of the first publication. Later drafts keep it. */
export const decidePublishedAt = (
  before: { is_draft: boolean; published_at: number | null },
  isDraft: boolean,
  now: number,
): number | null => before.published_at ?? (before.is_draft && !isDraft ? now : null)

/** True if the change is refused because the edition is archived and stays archived. */
export const isClosedTo = (before: { is_archived: boolean }, change: { is_archived?: boolean | undefined }): boolean =>
  before.is_archived &&
  change.is_archived !== false &&
  Object.entries(change).some(([field, value]) => field !== 'is_archived' && value !== undefined)
