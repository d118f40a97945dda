import { expect } from 'vitest'
import { get, post } from './api.ts'
import { readColumns, mapColumns, pathOf, process, work } from './data-imports.ts'
import type { Shop } from './seeding/sales/orders.ts'

interface ShownOrder {
  id: string
  external_id: string
  order_number: string | null
  status: string
  amount: number
  currency: string
  created: string
  customer: { full_name: string; email: string | null }
  purchases: { product: { name: string }; price_paid: number; status: string; user: { full_name: string } }[]
}

/** Summarises the orders of an edition, by their ids at the source. */
export async function summariseOrders({ edition_id }: Shop): Promise<object[]> {
  const { body } = await get(`/v1/orders?edition_id=${edition_id}&page_size=100`)
  const ids = (body.results as { id: string }[]).map(({ id }) => id)
  const orders = await Promise.all(ids.map(async (id) => (await get(`/v1/orders/${id}`)).body as ShownOrder))
  return orders
    .toSorted((one, other) => (one.external_id < other.external_id ? -1 : 1))
    .map(({ external_id, status, amount, currency, created, customer, purchases }) => ({
      id: external_id,
      status,
      amount: `${amount} ${currency}`,
      created,
      customer: `${customer.full_name} <${customer.email}>`,
      tickets: purchases
        .map(({ product, price_paid, user }) => `${product.name} ${price_paid} ${user.full_name}`)
        .toSorted(),
    }))
}

/** Maps each column, by its place and header, to its target. */
export async function readSuggestions(id: string): Promise<Record<string, string | null>> {
  const { results } = await readColumns(id)
  const columns = results as { source_index: number; source_column: string; target_field: string | null }[]
  return Object.fromEntries(
    columns.map(({ source_index, source_column, target_field }) => [`${source_index} ${source_column}`, target_field]),
  )
}

export interface Answers {
  mappings?: object[]
  constants?: object[]
}

/** The preview before anything is written. */
export async function previewOrders(id: string, { mappings = [], constants = [] }: Answers = {}) {
  if (mappings.length + constants.length > 0) {
    const mapped = await mapColumns(id, mappings, constants)
    expect(mapped.status, mapped.text).toBe(200)
  }
  expect((await process(id)).status).toBe('ready')
  const { body } = await get(pathOf(id, '/preview'))
  return body
}

/** Creates the orders. */
export async function startImport(id: string, body: object = {}) {
  const reply = await post(pathOf(id, '/start'), body)
  expect(reply.status, reply.text).toBe(200)
  await work(id)
  return (await get(pathOf(id))).body
}
