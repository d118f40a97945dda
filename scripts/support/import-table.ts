import { setTimeout as wait } from 'node:timers/promises'
import type { ExternalOrder } from './external-order.ts'

/** Orders of two and of three rows in turns, three of four of them by a customer of their own. */
const rowsOfTwoOrders = 5
const products = ['Day ticket', 'Weekend ticket', 'Camping', 'Parking', 'Locker']
const variants = ['Adult', 'Child']

export const ordersOf = (rows: number): number => Math.floor((2 * rows) / rowsOfTwoOrders)

export interface TableOrder {
  number: number
  customer: number
  created: string
  items: { product: string; variant: string; price: string }[]
}

export function orderAt(number: number, orders: number): TableOrder {
  const count = number % 2 ? 3 : 2
  const customers = Math.max(1, Math.floor((orders * 3) / 4))
  return {
    number,
    customer: number % customers,
    created: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
    items: Array.from({ length: count }, (_, item) => ({
      product: products[(number + item) % products.length] ?? '',
      variant: variants[number % variants.length] ?? '',
      price: `${100 + (number % 900)}.50`,
    })),
  }
}

const tableHeader = 'Order ID,Order date,E-mail,First name,Last name,Product,Variant,Quantity,Unit price\r\n'

const linesOf = ({ number, customer, created, items }: TableOrder): string =>
  items
    .map(
      ({ product, variant, price }) =>
        `B-${number},${created},guest-${customer}@example.dk,Guest,Number ${customer},${product},${variant},1,${price}\r\n`,
    )
    .join('')

const pieceLength = 1_000_000

/** The table of so many orders. Between its pieces this process sees which connections the server has closed meanwhile. */
export async function tableOf(orders: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let text = tableHeader
  for (let number = 0; number < orders; number++) {
    text += linesOf(orderAt(number, orders))
    if (text.length < pieceLength) continue
    pieces.push(Buffer.from(text))
    text = ''
    await wait(0)
  }
  return Buffer.concat([...pieces, Buffer.from(text)])
}

/** The same order as a call takes it. */
export const externalOrderOf = ({ number, customer, created, items }: TableOrder): ExternalOrder => ({
  external_id: `B-${number}`,
  status: 'completed',
  created,
  currency: 'dkk',
  customer: { email: `guest-${customer}@example.dk`, first_name: 'Guest', last_name: `Number ${customer}` },
  items: items.map(({ product, variant, price }) => ({ product, variant, quantity: 1, unit_price: Number(price) })),
})
