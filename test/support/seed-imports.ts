import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { dataImports, importColumns, importProducts } from '../../src/db/schema/data-imports.ts'
import { files } from '../../src/db/schema/files/files.ts'
import type { StoredFormat } from '../../src/domain/data-imports/files/format.ts'
import { insert, insertAll, update } from '../../src/db/write.ts'
import { type DataImportStatus, defaultOptions } from '../../src/domain/data-imports/data-imports.ts'
import { utf8 } from '../../src/domain/text/encoding.ts'
import { searchText } from '../../src/domain/text/fold.ts'
import { db, freshId, next, seededAt, write } from './seed.ts'
import { seedStoredFile } from './seed-files.ts'

interface Place {
  organization: string
  edition: string
}

/** A file with the purpose `import`. */
export async function seedTable(
  place: Place,
  text = `Order ID;E-mail\r\nA-${next()};a@example.test\r\n`,
): Promise<string> {
  const id = await seedStoredFile(place, utf8(text))
  await write(update(files, { purpose: 'import', mime_type: 'text/csv', name: 'orders.csv' }, sql`id = ${id}`))
  return id
}

const columns = [
  ['Order ID', 'order.external_id', 'A-1'],
  ['E-mail', 'customer.email', 'ana@example.test'],
  ['Product', 'item.product', 'Day ticket'],
  ['Price', 'item.unit_price', '225'],
] as const

/** An import of a file that was read, in a status of the test's choice, with its canonical copy. */
export async function seedImport(place: Place, status: DataImportStatus = 'mapping_columns'): Promise<string> {
  const id = freshId('data_import')
  const copy = utf8('2,0,20,data,,A-1,ana@example.test,Day ticket,225\r\n')
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
      name,
      search: searchText(name),
      source: 'csv',
      external_source: 'file',
      status,
      options: { ...defaultOptions, group_by: 'external_id' },
      total_rows: 1,
      created_orders: 0,
      updated_orders: 0,
      skipped_orders: 0,
      failed_orders: 0,
      results: [],
      file_id: await seedTable(place),
      format,
      canonical_key: `imports/${id}/`,
      canonical_size: copy.length,
      created_at: seededAt,
      modified_at: seededAt,
    }),
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

/** Products of an import's file that nobody has mapped. */
export async function seedProducts(importId: string, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const number = next()
    const product = `Ticket ${Math.floor(number / 2)}`
    return {
      import_id: importId,
      position: number,
      id: freshId('import_product'),
      product_key: JSON.stringify([product.toLowerCase(), number]),
      product,
      rows_count: number % 3,
    }
  })
  await write(...insertAll(importProducts, rows))
  return rows.map(({ id }) => id)
}

/** More columns of an import. */
export async function seedColumns(importId: string, count: number): Promise<string[]> {
  const there = await db().all(sql<{ count: number }>`select count(*) as count from import_columns
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
