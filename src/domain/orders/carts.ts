import type { IdKind } from '../ids.ts'
import type { CartTotals, cartStatuses } from './orders.ts'
import type { BoughtOption } from './purchases.ts'

interface CartItem {
  id: string
  product_id: string
  variant_id: string | null
  location_id: string | null
  options: readonly BoughtOption[]
  quantity: number
  price_minor: number
  deposit_minor: number
  handling_fee_minor: number
}

export interface Cart extends CartTotals {
  id: string
  status: (typeof cartStatuses)[number]
  coupon_code: string | null
}

type StoredItem = Pick<CartItem, 'id' | 'product_id'> & Partial<CartItem>

/** A cart as stored with its order, without the total, values that are null, 0 or empty, and quantities of 1. */
export type StoredCart = Pick<Cart, 'id'> &
  Partial<Omit<Cart, 'id' | 'status' | 'total_minor'>> & { items?: readonly StoredItem[] }

const isEmptyValue = (value: unknown): boolean =>
  value === null || value === 0 || (Array.isArray(value) && value.length === 0)

const omitEmpty = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmptyValue(value))) as Partial<Values>

const buildStoredItem = ({ id, product_id, quantity, ...item }: CartItem): StoredItem => ({
  id,
  product_id,
  ...(quantity === 1 ? {} : { quantity }),
  ...omitEmpty({
    variant_id: item.variant_id,
    location_id: item.location_id,
    options: item.options,
    price_minor: item.price_minor,
    deposit_minor: item.deposit_minor,
    handling_fee_minor: item.handling_fee_minor,
  }),
})

/** Builds the cart of an order. When an order changes, the cart keeps its id, and so do the items at each position. */
export function buildCart(
  { coupon_code, subtotal_minor, deposit_minor, handling_fee_minor, ...totals }: CartTotals & Pick<Cart, 'coupon_code'>,
  items: readonly Omit<CartItem, 'id'>[],
  existingCart: StoredCart | null,
  newId: (kind: IdKind) => string,
): StoredCart {
  return {
    id: existingCart?.id ?? newId('cart'),
    ...omitEmpty({
      coupon_code,
      subtotal_minor,
      deposit_minor,
      handling_fee_minor,
      service_fee_minor: totals.service_fee_minor,
      discount_minor: totals.discount_minor,
      tax_minor: totals.tax_minor,
    }),
    items: items.map((item, position) =>
      buildStoredItem({ ...item, id: existingCart?.items?.[position]?.id ?? newId('cart_item') }),
    ),
  }
}

/** Fills in the values that a stored cart leaves out. The cart of an order is always completed. */
export const readCart = ({ amount_minor, cart }: { amount_minor: number; cart: StoredCart }): Cart => ({
  id: cart.id,
  status: 'completed',
  coupon_code: cart.coupon_code ?? null,
  subtotal_minor: cart.subtotal_minor ?? 0,
  deposit_minor: cart.deposit_minor ?? 0,
  handling_fee_minor: cart.handling_fee_minor ?? 0,
  service_fee_minor: cart.service_fee_minor ?? 0,
  discount_minor: cart.discount_minor ?? 0,
  tax_minor: cart.tax_minor ?? 0,
  total_minor: amount_minor,
})
