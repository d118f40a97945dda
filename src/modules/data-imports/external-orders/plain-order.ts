import type { DecidedOrder } from '../../../domain/data-imports/mapping/index.ts'
import {
  type ExternalOrder,
  maxCodeLength,
  maxExternalIdLength,
  maxGoodNameLength,
  maxItemsPerOrder,
  maxOptionsPerItem,
  maxOrderNumberLength,
  maxProviderReferenceLength,
  maxUnitsPerItem,
  maxUnitsPerOrder,
} from '../../../domain/orders/external-orders.ts'
import { maxConsentKeyLength } from '../../../domain/consents/consents.ts'
import { maxAmountMinor } from '../../../domain/money.ts'
import {
  maxEmailLength,
  maxPersonNameLength,
  maxPhoneLength,
  normalizeEmail,
  splitFullName,
} from '../../../domain/accounts/users.ts'
import { type ExternalOrderWire, toExternalOrderOfCall } from './external-order-contract.ts'

/** Years of four digits, which the contract takes. */
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z')

/** Thrown for a value that the contract may refuse, or may read otherwise. */
const notPlain = new Error('The contract has to read this order.')

function plain(isPlain: boolean): void {
  if (!isPlain) throw notPlain
}

function text(value: string, most: number, least = 1): string {
  const trimmed = value.trim()
  plain(trimmed.length >= least && trimmed.length <= most)
  return trimmed
}

const textOrNull = (value: string | null, most: number, least = 1): string | null =>
  value === null ? null : text(value, most, least)

function amount(minor: number): number {
  plain(Number.isInteger(minor) && minor >= 0 && minor <= maxAmountMinor)
  return minor
}

const amountIfSaid = (minor: number | null): number | undefined => (minor === null ? undefined : amount(minor))

function instant(at: number): number {
  plain(Number.isInteger(at) && at >= 0 && at <= lastInstant)
  return at
}

function email(value: string): string | null {
  plain(value.length <= maxEmailLength)
  const normal = normalizeEmail(value)
  plain(normal !== null)
  return normal
}

function fullName(value: string) {
  const name = splitFullName(text(value, 2 * maxPersonNameLength + 1, 0))
  plain(name.first_name.length <= maxPersonNameLength && name.last_name.length <= maxPersonNameLength)
  return name
}

type DecidedPerson = NonNullable<DecidedOrder['items'][number]['user']>

const person = ({ email: address, first_name, last_name, full_name }: DecidedPerson) => ({
  email: address === null ? null : email(address),
  first_name: textOrNull(first_name, maxPersonNameLength, 0),
  last_name: textOrNull(last_name, maxPersonNameLength, 0),
  full_name: full_name === null ? null : fullName(full_name),
})

function plainKeys(record: object, most: number): void {
  plain(Object.keys(record).every((key) => key.length <= most && key !== '__proto__'))
}

function consents(given: DecidedOrder['consents']) {
  plainKeys(given, maxConsentKeyLength)
  return given
}

/** The contract counts the bytes of its JSON, of which these characters are far fewer than it takes. */
const maxPlainMetadata = 1000

function metadata(given: DecidedOrder['metadata']) {
  plainKeys(given, maxPlainMetadata)
  const length = Object.entries(given).reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  plain(length <= maxPlainMetadata)
  return given
}

function customer({ customer: given }: DecidedOrder): ExternalOrderWire['customer'] {
  const { phone_number, locale } = given
  const read = person(given)
  plain((phone_number?.length ?? 0) <= maxPhoneLength && Boolean(read.email ?? phone_number?.trim()))
  return { ...read, phone_number, locale }
}

function item(given: DecidedOrder['items'][number]): ExternalOrderWire['items'][number] {
  const { quantity, unit_price_minor, line_total_minor, deposit_minor, handling_fee_minor, options } = given
  plain(Number.isInteger(quantity) && quantity >= 1 && quantity <= maxUnitsPerItem)
  plain((unit_price_minor === null) !== (line_total_minor === null) && options.length <= maxOptionsPerItem)
  return {
    product: text(given.product, maxGoodNameLength),
    variant: textOrNull(given.variant, maxGoodNameLength),
    location: textOrNull(given.location, maxGoodNameLength),
    options: options.map((option) => text(option, maxGoodNameLength)),
    quantity,
    unit_price: amountIfSaid(unit_price_minor),
    line_total: amountIfSaid(line_total_minor),
    deposit: amount(Math.max(0, deposit_minor)),
    handling_fee: amount(Math.max(0, handling_fee_minor)),
    vendor_code: textOrNull(given.vendor_code, maxCodeLength),
    valid_until: given.valid_until === null ? null : instant(given.valid_until),
    status: given.status ?? undefined,
    user: given.user && person(given.user),
  }
}

const payment = ({ service, reference }: NonNullable<DecidedOrder['payment']>) => ({
  service,
  reference: textOrNull(reference, maxProviderReferenceLength, 0),
})

function wireOf(order: DecidedOrder): ExternalOrderWire {
  const { items } = order
  plain(items.length >= 1 && items.length <= maxItemsPerOrder)
  plain(items.reduce((units, { quantity }) => units + quantity, 0) <= maxUnitsPerOrder)
  return {
    external_id: text(order.external_id, maxExternalIdLength),
    order_number: textOrNull(order.order_number, maxOrderNumberLength, 0),
    status: order.status,
    created: order.created_at === null ? undefined : instant(order.created_at),
    currency: order.currency,
    customer: customer(order),
    items: items.map(item),
    amount: amountIfSaid(order.amount_minor),
    refunded_amount: amountIfSaid(order.refunded_minor),
    service_fee: amount(Math.max(0, order.service_fee_minor)),
    discount: amount(Math.max(0, order.discount_minor)),
    coupon_code: textOrNull(order.coupon_code, maxCodeLength, 0),
    payment: order.payment && payment(order.payment),
    consents: consents(order.consents),
    metadata: metadata(order.metadata),
  }
}

/**
 * An order of a file as the contract of calls reads it, where that is plain: nothing of it can be refused. Null for
 * others. The contract takes ten times as long.
 */
export function plainOrder(order: DecidedOrder): ExternalOrder | null {
  try {
    return toExternalOrderOfCall(wireOf(order))
  } catch (error) {
    if (error === notPlain) return null
    throw error
  }
}
