import { expect } from 'vitest'
import { get, patch, post, type Reply, create } from './api.ts'
import { giveDate } from './data-imports.ts'
import { givenTable } from './seeding/imports/data-imports.ts'
import type { Shop } from './seeding/sales/orders.ts'
import { loadImport, runToEnd } from './staged-imports.ts'

/** Runs the work of the import, as the queue would. */
export async function work(id: string): Promise<{ status: string } & Record<string, unknown>> {
  await runToEnd(id, (await loadImport(id)).epoch)
  return (await get(`/v1/data-imports/${id}`)).body
}

export async function preview(id: string, query = ''): Promise<Reply['body']> {
  const reply = await get(`/v1/data-imports/${id}/preview${query}`)
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}

export const start = (id: string, body: object = {}): Promise<Reply> => post(`/v1/data-imports/${id}/start`, body)

/** Uploads a file and prepares its import to start, with columns and products as suggested. */
export async function givenReadyImport(
  shop: Shop,
  bytes: BodyInit,
  options: Record<string, unknown> = {},
): Promise<string> {
  const query = { purpose: 'import', edition_id: shop.edition_id }
  const file_id = await givenTable(shop.organization_id, bytes, { query })
  const { id } = await create('/v1/data-imports', { ...shop, file_id, external_source: 'shop', options })
  expect((await work(id)).status).toBe('mapping_columns')
  // A price that cannot be read prevents suggestions for its column.
  const mappings = [{ source_column: 'Unit price', target_field: 'item.unit_price' }]
  const chosen = await patch(`/v1/data-imports/${id}/column-mappings`, { mappings })
  expect(chosen.status, chosen.text).toBe(200)
  await giveDate(id)
  const processed = await post(`/v1/data-imports/${id}/column-mappings/process`, undefined)
  expect(processed.status, processed.text).toBe(200)
  const { status } = await work(id)
  if (status === 'mapping_products') {
    const { body } = await get(`/v1/data-imports/${id}/product-mappings`)
    const decisions = body.results.map((product: { id: string }) => ({ id: product.id, action: 'create' }))
    const mapped = await patch(`/v1/data-imports/${id}/product-mappings`, { mappings: decisions })
    expect(mapped.status, mapped.text).toBe(200)
  }
  expect((await get(`/v1/data-imports/${id}`)).body.status).toBe('ready')
  return id
}
