import type { ExternalOrder } from './external-order.ts'

const firstNames = [
  'Freja',
  'Oskar',
  'Zoë',
  'Łukasz',
  'Maja',
  'Søren',
  'Anaïs',
  'Björn',
  'Elif',
  'Tomás',
  'Åse',
  'Finn',
]
const lastNames = ['Nygård', 'de Vries', 'Kowalski', 'Sjöberg', 'Jensen', 'Ødegaard', 'Bakker', 'Müller', 'Lindqvist']
const products = [
  { product: 'Day ticket', variants: ['Friday', 'Saturday', 'Sunday'], price: 895, deposit: 0 },
  { product: 'Camping', variants: ['Tent pitch', 'Camper'], price: 250, deposit: 100 },
  { product: 'Reusable cup', variants: [], price: 25, deposit: 10 },
  { product: 'Parking', variants: ['One day', 'Whole festival'], price: 120, deposit: 0 },
] as const
const statuses = ['completed', 'completed', 'completed', 'confirmed', 'pending', 'cancelled'] as const

/** Builds orders that are the same in every call, without randomness. `at` counts days from the seeding. */
export function buildExternalOrders(of: {
  prefix: string
  /** The number of the first customer. The customers of two editions overlap. */
  firstCustomer: number
  /** The owner of the customers, which is a part of their addresses. */
  domain: string
  /** The day of the newest order. */
  until: number
  count: number
  currency: string
  at: (days: number) => string
}): ExternalOrder[] {
  const pick = <T>(values: readonly T[], index: number): T => values[index % values.length] as T
  return Array.from({ length: of.count }, (_, index) => {
    const customer = of.firstCustomer + (index % 20)
    const first_name = pick(firstNames, customer * 5)
    const last_name = pick(lastNames, customer * 7)
    return {
      external_id: `${of.prefix}-${index + 1}`,
      status: pick(statuses, index),
      created: of.at(of.until - (index * 11) / 10),
      currency: of.currency,
      customer: {
        email: `guest-${customer}@${of.domain}`,
        first_name,
        last_name,
        metadata: customer % 6 === 0 ? { company: 'Havn & Co' } : {},
      },
      items: Array.from({ length: 1 + (index % 3) }, (__, position) => {
        const { product, variants, price, deposit } = pick(products, index + position)
        const variant = pick(variants, index)
        return {
          product,
          ...(variant ? { variant } : {}),
          quantity: 1 + ((index + position) % 4),
          unit_price: price,
          deposit,
        }
      }),
      service_fee: 15,
    }
  })
}
