import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { dataImports, importColumns, importProducts } from '../../../../src/db/schema/data-imports.ts'
import { insert, insertAll } from '../../../../src/db/write.ts'
import { type DataImportStatus, defaultOptions } from '../../../../src/domain/data-imports/data-imports.ts'
import type { StoredFormat } from '../../../../src/domain/data-imports/files/format.ts'
import { utf8 } from '../../../../src/domain/text/encoding.ts'
import { buildSearchText, buildSortKey } from '../../../../src/domain/text/fold.ts'
import { create, get, type Reply } from '../../api.ts'
import { pathOf, work } from '../../data-imports.ts'
import { type RawUpload, uploadRaw } from '../../files.ts'
import { countBytes, seedStoredFile } from '../files.ts'
import { db, freshId, next, type Place, seededAt, seededTimes, type WidePlace, write } from '../rows.ts'
import type { Shop } from '../sales/orders.ts'

const csvType: RawUpload = { name: 'orders.csv', type: 'text/csv', query: { purpose: 'import' } }

/** Uploads a table for an import. */
export async function givenTable(organization: string, bytes: BodyInit, upload: RawUpload = csvType): Promise<string> {
  const reply = await uploadRaw(organization, bytes, { ...csvType, ...upload })
  expect(reply.status, reply.text).toBe(201)
  return reply.body.id as string
}

/** Waits until the uploaded file of an import was read, or could not be. */
export async function givenImport(
  shop: Shop,
  bytes: BodyInit,
  more: object = {},
  upload: RawUpload = csvType,
): Promise<Reply['body']> {
  const file_id = await givenTable(shop.organization_id, bytes, upload)
  const { id } = await create('/v1/data-imports', { ...shop, file_id, ...more })
  await work(id)
  return (await get(pathOf(id))).body
}

const named = (name: string) => ({ name, name_key: buildSortKey(name), search: buildSearchText(name) })

export async function seedDataImports(place: Place, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => ({
    id: freshId('data_import'),
    organization_id: place.organization,
    edition_id: place.edition,
    account_id: null,
    ...named(`Import ${Math.floor(next() / 2)}`),
    source: 'api' as const,
    external_source: 'shop',
    status: 'completed' as const,
    options: { on_duplicate: 'skip' as const, emit_webhooks: false, send_receipts: false },
    total_rows: 0,
    created_orders: 0,
    updated_orders: 0,
    skipped_orders: 0,
    failed_orders: 0,
    ...seededTimes(next()),
  }))
  await write(...insertAll(dataImports, rows))
  return rows.map((row) => row.id)
}

/** Seeds a file with the purpose `import`. */
export async function seedTable(
  { organization, edition }: WidePlace,
  text = `Order ID;E-mail\r\nA-${next()};a@example.test\r\n`,
): Promise<string> {
  const table = { purpose: 'import' as const, mime_type: 'text/csv', name: 'orders.csv' }
  return (
    await seedStoredFile({
      organization,
      ...(edition === null ? {} : { edition }),
      ...table,
      content: utf8(text),
    })
  ).id
}

const columns = [
  ['Order ID', 'order.external_id', 'A-1'],
  ['E-mail', 'customer.email', 'ana@example.test'],
  ['Product', 'item.product', 'Day ticket'],
  ['Price', 'item.unit_price', '225'],
  ['Order date', 'order.created', '2026-01-05'],
] as const

/** Seeds an import of a file that was read, in a status of the test's choice, with its canonical copy. */
export async function seedImport(place: Place, status: DataImportStatus = 'mapping_columns'): Promise<string> {
  const id = freshId('data_import')
  const copy = utf8('2,0,20,data,,,A-1,ana@example.test,Day ticket,225,2026-01-05\r\n')
  const segment = { key: `imports/${id}/${next()}`, size: copy.length }
  await env.FILES.put(segment.key, copy)
  const name = `Import ${next()}`
  const format: StoredFormat = {
    kind: 'csv',
    names: columns.map(([header]) => header),
    header: { line: 1, offset: 0, length: 30 },
    encoding: 'utf-8',
    encodingConfidence: 1,
    delimiter: ';',
    delimiterConfidence: 1,
    quotes: true,
    hasSeparatorLine: false,
    lineBreak: '\r\n',
    markLength: 0,
    body: { offset: 30, line: 2 },
    segments: [segment],
  }
  await write(
    insert(dataImports, {
      id,
      organization_id: place.organization,
      edition_id: place.edition,
      account_id: null,
      ...named(name),
      source: 'csv',
      external_source: 'file',
      status,
      options: { ...defaultOptions, group_by: 'external_id' },
      total_rows: 1,
      created_orders: 0,
      updated_orders: 0,
      skipped_orders: 0,
      failed_orders: 0,
      file_id: await seedTable(place),
      format,
      canonical_size: copy.length,
      created_at: seededAt,
      modified_at: seededAt,
    }),
    countBytes(place.organization, copy.length),
    ...insertAll(
      importColumns,
      columns.map(([source_column, target_field, sample], source_index) => ({
        import_id: id,
        source_index,
        id: freshId('import_column'),
        source_column,
        target_field,
        sample_values: [sample],
      })),
    ),
  )
  return id
}

/** Seeds products of an import's file without a mapping. */
export async function seedImportProducts(importId: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const number = next()
    const product = `Ticket ${Math.floor(number / 2)}`
    return {
      import_id: importId,
      position: number,
      id: freshId('import_product'),
      product_key: JSON.stringify([product.toLowerCase(), number]),
      product,
      name_key: buildSortKey(product),
      rows_count: number % 3,
    }
  })
  await write(...insertAll(importProducts, rows))
  return rows.map(({ id }) => id)
}

/** Seeds further columns of an import. */
export async function seedImportColumns(importId: string, count: number): Promise<string[]> {
  const there = await db.all(sql<{ count: number }>`select count(*) as count from import_columns
    where import_id = ${importId}`)
  const first = there[0]?.count ?? 0
  const rows = Array.from({ length: count }, (_, at) => ({
    import_id: importId,
    source_index: first + at,
    id: freshId('import_column'),
    source_column: `Column ${at}`,
  }))
  await write(...insertAll(importColumns, rows))
  return rows.map(({ id }) => id)
}
