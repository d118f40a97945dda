import type { ImportKind } from '../../import-kinds.ts'

export const targetTypes = [
  'text',
  'name',
  'full_name',
  'product',
  'email',
  'phone',
  'money',
  'quantity',
  'instant',
  'boolean',
  'currency',
  'language',
  'order_status',
  'item_status',
  'subscription',
  'texts',
] as const
export type TargetType = (typeof targetTypes)[number]

export const targetGroups = ['order', 'customer', 'item', 'holder', 'consent', 'metadata'] as const
type TargetGroup = (typeof targetGroups)[number]

export interface TargetField {
  key: string
  label: string
  type: TargetType
  group: TargetGroup
  is_required: boolean
  /** One target of each group is required. */
  one_of: 'contact' | 'price' | null
  max_length: number
  /** True if the rows of an order have to agree. */
  is_order_level: boolean
}

interface FieldDetails {
  type?: TargetType
  required?: boolean
  one_of?: 'contact' | 'price'
  max?: number
}

function buildField(key: string, label: string, details: FieldDetails = {}): TargetField {
  const [first] = key.split('.')
  return {
    key,
    label,
    type: details.type ?? 'text',
    group: key.startsWith('item.user.') ? 'holder' : first === 'item' || first === 'customer' ? first : 'order',
    is_required: details.required ?? false,
    one_of: details.one_of ?? null,
    max_length: details.max ?? 200,
    is_order_level: first !== 'item',
  }
}

const personal = { type: 'name', max: 80 } as const
const amount = { type: 'money' } as const

export const fixedTargetFields: readonly TargetField[] = [
  buildField('order.external_id', 'Order ID', { required: true, max: 128 }),
  buildField('order.order_number', 'Order number', { max: 16 }),
  buildField('order.created', 'Order date', { type: 'instant', required: true }),
  buildField('order.status', 'Order status', { type: 'order_status' }),
  buildField('order.currency', 'Currency', { type: 'currency' }),
  buildField('order.amount', 'Order total', amount),
  buildField('order.refunded_amount', 'Refunded amount', amount),
  buildField('order.service_fee', 'Service fee', amount),
  buildField('order.discount', 'Discount', amount),
  buildField('order.coupon_code', 'Discount code', { max: 64 }),
  buildField('order.payment_service', 'Payment service', { max: 64 }),
  buildField('order.payment_reference', 'Payment reference', { max: 255 }),
  buildField('customer.email', 'Customer: e-mail', { type: 'email', one_of: 'contact' }),
  buildField('customer.phone_number', 'Customer: phone number', { type: 'phone', one_of: 'contact' }),
  buildField('customer.first_name', 'Customer: first name', personal),
  buildField('customer.last_name', 'Customer: last name', personal),
  buildField('customer.full_name', 'Customer: full name', { type: 'full_name', max: 161 }),
  buildField('customer.locale', 'Customer: language', { type: 'language' }),
  buildField('item.product', 'Product', { type: 'product', required: true }),
  buildField('item.variant', 'Variant', { type: 'product' }),
  buildField('item.location', 'Location', { type: 'product' }),
  buildField('item.options', 'Options', { type: 'texts' }),
  buildField('item.quantity', 'Quantity', { type: 'quantity' }),
  buildField('item.unit_price', 'Unit price', { type: 'money', one_of: 'price' }),
  buildField('item.line_total', 'Line total', { type: 'money', one_of: 'price' }),
  buildField('item.tax', 'Tax of the line that its price does not include', amount),
  buildField('item.deposit', 'Deposit', amount),
  buildField('item.handling_fee', 'Handling fee', amount),
  buildField('item.vendor_code', 'Ticket code', { max: 64 }),
  buildField('item.status', 'Ticket status', { type: 'item_status' }),
  buildField('item.valid_until', 'Valid until', { type: 'instant' }),
  buildField('item.user.email', 'Ticket holder: e-mail', { type: 'email' }),
  buildField('item.user.first_name', 'Ticket holder: first name', personal),
  buildField('item.user.last_name', 'Ticket holder: last name', personal),
  buildField('item.user.full_name', 'Ticket holder: full name', { type: 'full_name', max: 161 }),
]

/** Targets of customers who have no order. */
const listTargetFields: readonly TargetField[] = [
  buildField('customer.status', 'Mailing list: status', { type: 'subscription' }),
  buildField('customer.status_at', 'Mailing list: since when the status holds', { type: 'instant' }),
  buildField('customer.subscribed_at', 'Mailing list: time of the consent', { type: 'instant' }),
  buildField('customer.unsubscribed_at', 'Mailing list: time of unsubscribing', { type: 'instant' }),
  buildField('customer.cleaned_at', 'Mailing list: since when the address bounces', { type: 'instant' }),
  buildField('customer.consent_place', 'Mailing list: where the consent was given', { max: 500 }),
  buildField('customer.metadata', 'Customer: metadata as a JSON object', { max: 16_000 }),
]

const customerTargetFields: readonly TargetField[] = [
  ...fixedTargetFields.filter(({ group }) => group === 'customer'),
  ...listTargetFields,
]

/** Lists the targets of an import that every edition has. */
export const listFixedFields = (kind: ImportKind): readonly TargetField[] =>
  kind === 'customers' ? customerTargetFields : fixedTargetFields

export interface KnownConsent {
  key: string
  name: string
  type: string
}

export const buildConsentTarget = (key: string): string => `consent.${key}`

const metadataPrefixes = ['order.metadata.', 'customer.metadata.'] as const
const metadataKey = /^[a-z0-9][a-z0-9_-]{0,63}$/i

function buildMetadataField(key: string): TargetField | null {
  const prefix = metadataPrefixes.find((one) => key.startsWith(one))
  const name = key.slice(prefix?.length)
  if (prefix === undefined || !metadataKey.test(name)) return null
  return { ...buildField(key, name, { max: 1000 }), group: 'metadata' }
}

const fixedByKey: ReadonlyMap<string, TargetField> = new Map(
  [...fixedTargetFields, ...listTargetFields].map((one) => [one.key, one]),
)
const listKeys: ReadonlySet<string> = new Set(listTargetFields.map(({ key }) => key))

/** Lists all targets of an edition, except metadata of orders and customers, which take any key. */
export const buildTargetFields = (consents: readonly KnownConsent[], kind: ImportKind = 'orders'): TargetField[] => [
  ...listFixedFields(kind),
  ...consents.map(({ key, name }): TargetField => ({
    ...buildField(buildConsentTarget(key), name, { type: 'boolean' }),
    group: 'consent',
  })),
]

/** Finds a target by its key. `consents` are those of the edition. */
export const findTargetField = (key: string, consents: readonly KnownConsent[] = []): TargetField | null =>
  fixedByKey.get(key) ??
  buildMetadataField(key) ??
  buildTargetFields(consents).find((one) => one.key === key && one.group === 'consent') ??
  null

/** True if an import of this kind takes the target. */
export const takesTarget = (kind: ImportKind, { key, group }: TargetField): boolean =>
  kind === 'orders'
    ? !listKeys.has(key)
    : group === 'customer' || group === 'consent' || key.startsWith('customer.metadata.')

/** Finds a target of an import of this kind by its key. */
export function findTargetOfKind(
  kind: ImportKind,
  key: string,
  consents: readonly KnownConsent[] = [],
): TargetField | null {
  const field = findTargetField(key, consents)
  return field && takesTarget(kind, field) ? field : null
}
