import { toMajor } from '../../../money.ts'
import { toIso, toIsoOrNull } from '../../../time/instants.ts'
import type { DecidedItem } from './items.ts'
import type { DecidedOrder } from './order.ts'

/** Removes null values, which an update would apply. */
const removeNulls = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

const nullIfEmpty = <Fields extends object>(fields: Fields): Fields | null =>
  Object.keys(fields).length === 0 ? null : fields

const majorOrNull = (minor: number | null): number | null => (minor === null ? null : toMajor(minor))

const toWireItem = (item: DecidedItem): Record<string, unknown> =>
  removeNulls({
    product: item.product,
    variant: item.variant,
    location: item.location,
    options: item.options.length > 0 ? item.options : null,
    quantity: item.quantity,
    unit_price: majorOrNull(item.unit_price_minor),
    line_total: majorOrNull(item.line_total_minor),
    deposit: item.deposit_minor > 0 ? toMajor(item.deposit_minor) : null,
    handling_fee: item.handling_fee_minor > 0 ? toMajor(item.handling_fee_minor) : null,
    vendor_code: item.vendor_code,
    valid_until: toIsoOrNull(item.valid_until),
    status: item.status,
    user: item.user && removeNulls(item.user),
  })

/** Builds the order that a client would send to `importExternalOrders`, so that one contract checks files and calls. */
export const toWireOrder = (order: DecidedOrder): Record<string, unknown> =>
  removeNulls({
    external_id: order.external_id,
    order_number: order.order_number,
    status: order.status,
    created: toIso(order.created_at),
    currency: order.currency,
    customer: removeNulls({ ...order.customer, metadata: nullIfEmpty(order.customer.metadata) }),
    items: order.items.map(toWireItem),
    amount: majorOrNull(order.amount_minor),
    refunded_amount: majorOrNull(order.refunded_minor),
    service_fee: order.service_fee_minor > 0 ? toMajor(order.service_fee_minor) : null,
    discount: order.discount_minor > 0 ? toMajor(order.discount_minor) : null,
    coupon_code: order.coupon_code,
    payment: order.payment && removeNulls(order.payment),
    consents: order.consents,
    metadata: order.metadata,
  })
