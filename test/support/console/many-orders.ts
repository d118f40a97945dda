import { createEdition, importOrders } from './edition.ts'
import type { ConsoleService } from './setup.ts'

export const manyOrdersPath = '/test/orders'

/** The numbers of the orders to add, and the time before the first. */
export interface ManyOrders {
  edition_id: string
  first: number
  last: number
  start: number
}

const orderTotal = 100_000
const importedCount = 10
const addedCount = orderTotal - importedCount
const ordersPerCall = 10_000

/** The number of the order at a place in the list that begins with the newest. */
export const numberAt = (place: number): string => String(1_000_000 + addedCount - place)

/** The number of cancelled orders. */
export const cancelledTotal = Math.floor((addedCount + 1) / 4)

/** Creates an edition with 100,000 orders. */
export async function createLargeEdition(service: ConsoleService): Promise<string> {
  const edition_id = await createEdition(service, 'Many orders')
  await importOrders(
    service,
    edition_id,
    Array.from({ length: importedCount }, (_, index) => ({
      external_id: `many-${index}`,
      created: '2024-01-01T00:00:00Z',
      currency: 'dkk',
      customer: { email: `many-${index}@nordlys.example`, first_name: 'Guest' },
      items: [{ product: 'Day ticket', quantity: 1, unit_price: 500 }],
    })),
  )
  const start = Date.UTC(2024, 1, 1)
  for (let first = 1; first <= addedCount; first += ordersPerCall) {
    const last = Math.min(first + ordersPerCall - 1, addedCount)
    const body: ManyOrders = { edition_id, first, last, start }
    const response = await fetch(service.url + manyOrdersPath, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(await response.text())
  }
  return edition_id
}
