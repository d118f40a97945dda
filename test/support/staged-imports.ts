import { expect } from 'vitest'
import { env } from 'cloudflare:workers'
import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { ImportPreviewMessage, ImportWorkMessage, JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import { dataImports, importOrders, importProducts, importRows } from '../../src/db/schema/data-imports.ts'
import { select } from '../../src/db/select.ts'
import { insert, insertAll } from '../../src/db/write.ts'
import {
  groupKeyOf,
  type PlacedRow,
  productKey,
  productOf,
  type RowError,
} from '../../src/domain/data-imports/mapping/index.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { workOnImports } from '../../src/modules/data-imports/jobs.ts'
import { groupRows, stagedData } from '../../src/modules/data-imports/background/staged-rows.ts'
import { contextAt } from './context.ts'
import type { Shop } from './orders.ts'
import { db, freshId, seededAt, write } from './seed.ts'
import { type Death, dyingClient } from './segments.ts'

/** A row of a file, as a mapping reads it. */
export interface FileRow {
  values: Record<string, unknown>
  errors?: RowError[]
  is_ignored?: boolean
}

let made = 0
export const freshOrderId = (): string => `F-${++made}`

/** A row that is an order of one ticket by a customer of its own. */
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

/** A row that cannot be read. */
export function aBadRow(change: Record<string, unknown> = {}): FileRow {
  const message = 'This is not a number.'
  const error = { column: 5, target_field: 'item.unit_price', code: 'invalid_number', message, value: 'x' } as const
  return { values: aRow({ 'item.unit_price': undefined, ...change }).values, errors: [error] }
}

export interface Staging {
  options?: Record<string, unknown>
  /** By name: what was decided for a product; what is not named is made. */
  products?: Record<string, { action: 'map' | 'create' | 'ignore'; product_id?: string; variant_id?: string }>
  columns?: Partial<typeof dataImports.$inferInsert>
}

function productRows(id: string, rows: readonly PlacedRow[], { products = {} }: Staging) {
  const tuples = new Map(rows.flatMap((row) => productOf(row.values) ?? []).map((tuple) => [productKey(tuple), tuple]))
  return [...tuples].map(([product_key, tuple], position) => ({
    import_id: id,
    position,
    id: freshId('data_import'),
    product_key,
    product: tuple.product,
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

/** An import whose rows are staged, and which waits for its start. */
export async function seedStaged(shop: Shop, rows: readonly FileRow[], staging: Staging = {}): Promise<string> {
  const id = freshId('data_import')
  const group_by = (staging.options?.['group_by'] as 'external_id' | undefined) ?? 'external_id'
  const placed = rows.map(({ values, errors = [], is_ignored = false }, index): PlacedRow => {
    const said = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
    return { values: said as PlacedRow['values'], errors, is_ignored, currency_mark: null, line: index + 2 }
  })
  const staged = placed.map((row, index) => {
    const group_key = row.is_ignored ? null : groupKeyOf(row, group_by)
    const outcome = group_key !== null ? null : row.is_ignored ? ('ignored' as const) : ('error' as const)
    const place = { import_id: id, row_number: index + 1, file_line: row.line, byte_offset: 0, byte_length: 0 }
    return { ...place, group_key, data: stagedData(row), errors: JSON.stringify(row.errors), outcome }
  })
  const invalid_rows = placed.filter(({ errors }) => errors.length > 0).length
  const counts = { created_orders: 0, updated_orders: 0, skipped_orders: 0, failed_orders: 0 }
  await write(
    insert(dataImports, {
      id,
      ...shop,
      account_id: null,
      name: 'orders.csv',
      source: 'csv',
      external_source: 'shop',
      status: 'ready',
      options: { group_by, ...staging.options },
      total_rows: rows.length,
      ...counts,
      results: [],
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
    groupRows(id, 1, rows.length),
    ...insertAll(importProducts, productRows(id, placed, staging)),
    sql`update data_imports set total_orders = (select count(*) from import_orders where import_id = ${id})
      where id = ${id}`,
  )
  return id
}

/** More rows of a staged import, behind those that it has. */
export async function addStaged(id: string, rows: readonly FileRow[]): Promise<void> {
  const { total_rows: before } = await importNow(id)
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
      group_key: groupKeyOf(row, 'external_id'),
      data: stagedData(row),
      errors: JSON.stringify(row.errors),
    }
  })
  await write(
    ...insertAll(importRows, staged),
    groupRows(id, before + 1, before + rows.length),
    sql`update data_imports set total_rows = total_rows + ${rows.length}, total_orders = total_orders + ${rows.length}
      where id = ${id}`,
  )
}

export const importNow = async (id: string): Promise<typeof dataImports.$inferSelect> => {
  const row = await db().first(select(getTableColumns(dataImports)).from(dataImports).where(eq(dataImports.id, id)))
  if (!row) throw new Error('there is no such import')
  return row
}

/** Begins the phase `import`, as a start does. */
export async function seedStarted(shop: Shop, rows: readonly FileRow[], staging: Staging = {}): Promise<string> {
  const running = { status: 'importing', phase: 'import', epoch: 7, heartbeat_at: Date.now() } as const
  const columns = { ...running, position: '{"changeable":null}', started_at: Date.now(), ...staging.columns }
  return seedStaged(shop, rows, { ...staging, columns })
}

type OrderNow = typeof importOrders.$inferSelect

/** Orders with what became of them: created ones are kept together, by their numbers. */
export async function ordersNow(id: string): Promise<OrderNow[]> {
  const orders = await db().all(sql<OrderNow>`select * from import_orders where import_id = ${id} order by number`)
  const kept = await db().all(
    sql<{ number: number; created: string }>`select cast(its.key as integer) as number, its.value as created
      from import_created_orders, json_each(orders) as its where import_id = ${id}`,
  )
  const created = new Map(kept.map((one) => [one.number, JSON.parse(one.created)]))
  return orders.map((order): OrderNow => {
    const { order_id, before } = created.get(order.number) ?? {}
    if (order.outcome !== null || order_id === undefined) return order
    return { ...order, outcome: 'created', order_id, order_version: 1, before: JSON.stringify(before) }
  })
}

/** Rows with what became of them: what stands at no row of its own stands at its order. */
export async function rowsNow(id: string): Promise<(typeof importRows.$inferSelect)[]> {
  const rows = await db().all(
    sql<typeof importRows.$inferSelect>`select * from import_rows where import_id = ${id} order by row_number`,
  )
  const outcomes = new Map((await ordersNow(id)).map(({ group_key, outcome }) => [group_key, outcome]))
  return rows.map((row) => ({ ...row, outcome: row.outcome ?? outcomes.get(row.group_key ?? '') ?? null }))
}

export const messageOf = (id: string, epoch = 7): ImportWorkMessage => ({ type: 'import.work', import_id: id, epoch })

/** A machine that takes messages of imports; time passes for it with each look at its clock. */
export function importer({ death = null, tick = 0 }: { death?: Death | null; tick?: number } = {}) {
  const enqueued: ImportWorkMessage[] = []
  let now = Date.now()
  const meter = newMeter()
  const job: JobCtx = {
    ...contextAt(now),
    db: death ? new Database(dyingClient(death), meter) : new Database(env.DB, meter),
    now: () => (now += tick),
    jobQueue: {
      enqueue: async (queue, messages) =>
        void (queue === 'imports' && enqueued.push(...(messages as readonly ImportWorkMessage[]))),
    },
  }
  return {
    enqueued,
    job,
    meter,
    take: (...messages: (ImportWorkMessage | ImportPreviewMessage)[]) => workOnImports(job, messages),
  }
}

/** Takes the message and all that follow from it. */
export async function runToEnd(id: string, epoch = 7): Promise<void> {
  const machine = importer()
  await machine.take(messageOf(id, epoch))
  for (let next = machine.enqueued.shift(); next; next = machine.enqueued.shift()) await machine.take(next)
}

export const many = (count: number, change: Record<string, unknown> = {}): FileRow[] =>
  Array.from({ length: count }, () => aRow(change))

/** Each order once, every row with its outcome, and counters that are counts of rows. */
export async function expectExact(shop: Shop, id: string) {
  const [row, rows, orders] = await Promise.all([importNow(id), rowsNow(id), ordersNow(id)])
  const count = (outcome: string) => orders.filter((order) => order.outcome === outcome).length
  expect(row).toMatchObject({
    created_orders: count('created'),
    updated_orders: count('updated'),
    skipped_orders: count('skipped'),
    failed_orders: count('error'),
    processed_rows: rows.filter(({ outcome }) => outcome !== null).length,
  })
  const counts = Object.entries(row.row_counts ?? {})
  for (const [outcome, number] of counts)
    expect([outcome, number]).toEqual([outcome, rows.filter((one) => one.outcome === outcome).length])
  const reasonless = rows.filter(({ outcome, errors }) => outcome === 'error' && errors === '[]')
  expect(reasonless).toEqual([])
  const created = orders.flatMap(({ outcome, order_id }) => (outcome === 'created' ? [order_id] : []))
  expect(new Set(created).size).toBe(created.length)
  const twice = await db().all(sql`select external_id from orders where edition_id = ${shop.edition_id}
    group by external_id having count(*) > 1`)
  expect(twice).toEqual([])
  return { row, rows, orders }
}
