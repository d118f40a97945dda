import { sql } from 'drizzle-orm'
import { dataImports, importRows, importProducts } from '../../../../src/db/schema/data-imports.ts'
import { insert, insertAll } from '../../../../src/db/write.ts'
import {
  type StoredError,
  type PlacedRow,
  readProduct,
  buildProductKey,
  getGroupKey,
  type Grouping,
} from '../../../../src/domain/data-imports/mapping/index.ts'
import { buildSortKey } from '../../../../src/domain/text/fold.ts'
import { buildGroupStatements, pickStagedValues } from '../../../../src/modules/data-imports/background/staged.ts'
import { loadImport } from '../../staged-imports.ts'
import { freshId, write, seededAt } from '../rows.ts'
import type { Shop } from '../sales/orders.ts'

/** A row of a file, as a mapping reads it. */
export interface FileRow {
  values: Record<string, unknown>
  errors?: StoredError[]
  is_ignored?: boolean
}

let rowCount = 0

export const freshOrderId = (): string => `F-${++rowCount}`

/** Builds a row that is an order of one ticket by its own customer. */
export function aRow(change: Record<string, unknown> = {}): FileRow {
  const id = freshOrderId()
  return {
    values: {
      'order.external_id': id,
      'order.created': Date.UTC(2026, 0, 5),
      'customer.email': `${id.toLowerCase()}@example.dk`,
      'customer.first_name': 'Ægir',
      'item.product': 'Day ticket',
      'item.unit_price': 22_500,
      ...change,
    },
  }
}

/** Builds a row that cannot be read. */
export function aBadRow(change: Record<string, unknown> = {}): FileRow {
  const message = 'This is not a number.'
  const error = { column: 5, target_field: 'item.unit_price', code: 'invalid_number', message, value: 'x' } as const
  return { values: aRow({ 'item.unit_price': undefined, ...change }).values, errors: [error] }
}

export const buildRows = (count: number, change: Record<string, unknown> = {}): FileRow[] =>
  Array.from({ length: count }, () => aRow(change))

export interface Staging {
  options?: Record<string, unknown>
  /** Decisions about products, by name. Products without a decision are created. */
  products?: Record<string, { action: 'map' | 'create' | 'ignore'; product_id?: string; variant_id?: string }>
  columns?: Partial<typeof dataImports.$inferInsert>
  /** Rows after which a step of staging ends. */
  borders?: readonly number[]
}

function productRows(id: string, rows: readonly PlacedRow[], { products = {} }: Staging) {
  const tuples = new Map(
    rows.flatMap((row) => readProduct(row.values) ?? []).map((tuple) => [buildProductKey(tuple), tuple]),
  )
  return [...tuples].map(([product_key, tuple], position) => ({
    import_id: id,
    position,
    id: freshId('data_import'),
    product_key,
    product: tuple.product,
    name_key: buildSortKey(tuple.product),
    variant: tuple.variant,
    location: tuple.location,
    options: tuple.options,
    rows_count: 1,
    action: 'create' as const,
    product_id: null as string | null,
    variant_id: null as string | null,
    ...products[tuple.product],
  }))
}

/** Splits the rows into the steps of staging. */
function splitIntoSteps<Row>(rows: readonly Row[], borders: readonly number[] = []): Row[][] {
  const begins = [0, ...new Set(borders)].toSorted((one, other) => one - other)
  return begins.map((from, index) => rows.slice(from, begins[index + 1]))
}

/** Seeds an import whose rows are staged, and which waits for its start. */
export async function seedStaged(shop: Shop, rows: readonly FileRow[], staging: Staging = {}): Promise<string> {
  const id = freshId('data_import')
  const group_by = (staging.options?.['group_by'] as Grouping | undefined) ?? 'external_id'
  const placed = rows.map(({ values, errors = [], is_ignored = false }, index): PlacedRow => {
    const presentValues = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
    return { values: presentValues as PlacedRow['values'], errors, is_ignored, currency_mark: null, line: index + 2 }
  })
  const staged = placed.map((row, index) => {
    const group_key = row.is_ignored ? null : group_by === 'row' ? String(row.line) : getGroupKey(row, group_by)
    const outcome = group_key !== null ? null : row.is_ignored ? ('ignored' as const) : ('error' as const)
    const place = { import_id: id, row_number: index + 1, file_line: row.line, byte_offset: 0, byte_length: 0 }
    return { ...place, group_key, data: pickStagedValues(row), errors: row.errors, outcome }
  })
  const invalid_rows = placed.filter(({ errors }) => errors.length > 0).length
  const counts = { created_orders: 0, updated_orders: 0, skipped_orders: 0, failed_orders: 0 }
  await write(
    insert(dataImports, {
      id,
      ...shop,
      account_id: null,
      name: 'orders.csv',
      name_key: buildSortKey('orders.csv'),
      source: 'csv',
      external_source: 'shop',
      status: 'ready',
      options: { group_by, ...staging.options },
      total_rows: rows.length,
      ...counts,
      valid_rows: rows.length - invalid_rows,
      invalid_rows,
      row_counts: {
        ignored: staged.filter(({ outcome }) => outcome === 'ignored').length,
        error: staged.filter(({ outcome }) => outcome === 'error').length,
      },
      created_at: seededAt,
      modified_at: seededAt,
      ...staging.columns,
    }),
    ...insertAll(importRows, staged),
    ...splitIntoSteps(staged, staging.borders).flatMap((part) => buildGroupStatements(id, part)),
    ...insertAll(importProducts, productRows(id, placed, staging)),
    sql`update data_imports set total_orders = (select count(*) from import_orders where import_id = ${id})
      where id = ${id}`,
  )
  return id
}

/** Adds rows to a staged import after its others. */
export async function addStaged(id: string, rows: readonly FileRow[]): Promise<void> {
  const { total_rows: before } = await loadImport(id)
  const staged = rows.map(({ values }, index) => {
    const row: PlacedRow = {
      values: values as PlacedRow['values'],
      errors: [],
      is_ignored: false,
      currency_mark: null,
      line: before + index + 2,
    }
    const number = before + index + 1
    const place = { import_id: id, row_number: number, file_line: row.line, byte_offset: 0, byte_length: 0 }
    return {
      ...place,
      group_key: getGroupKey(row, 'external_id'),
      data: pickStagedValues(row),
      errors: row.errors,
    }
  })
  await write(
    ...insertAll(importRows, staged),
    ...buildGroupStatements(id, staged),
    sql`update data_imports set total_rows = total_rows + ${rows.length}, total_orders = total_orders + ${rows.length}
      where id = ${id}`,
  )
}

/** Begins the phase `import`, as a start does. */
export async function seedStarted(shop: Shop, rows: readonly FileRow[], staging: Staging = {}): Promise<string> {
  const running = { status: 'importing', phase: 'import', epoch: 7, heartbeat_at: Date.now() } as const
  const columns = { ...running, position: { changeable: null }, started_at: Date.now(), ...staging.columns }
  return seedStaged(shop, rows, { ...staging, columns })
}
