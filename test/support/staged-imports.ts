import { env } from 'cloudflare:workers'
import { asc, eq, getTableColumns, sql } from 'drizzle-orm'
import { expect } from 'vitest'
import type { ImportPreviewMessage, ImportWorkMessage, JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import { dataImports, importOrders, importRows } from '../../src/db/schema/data-imports.ts'
import { select } from '../../src/db/select.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { workOnImports } from '../../src/modules/data-imports/jobs.ts'
import { createContextAt } from './context.ts'
import { db } from './seeding/rows.ts'
import type { Shop } from './seeding/sales/orders.ts'
import { type Death, createCrashingClient } from './segments.ts'

export const loadImport = async (id: string): Promise<typeof dataImports.$inferSelect> => {
  const row = await db.first(select(getTableColumns(dataImports)).from(dataImports).where(eq(dataImports.id, id)))
  if (!row) throw new Error('there is no such import')
  return row
}

type OrderNow = typeof importOrders.$inferSelect

export const loadImportOrders = (id: string): Promise<OrderNow[]> =>
  db.all(sql<OrderNow>`select * from import_orders where import_id = ${id} order by number`)

/** Rows with their outcomes: the row's own, or else that of its order. */
export async function loadRows(id: string): Promise<(typeof importRows.$inferSelect)[]> {
  const rows = await db.all(
    select(getTableColumns(importRows))
      .from(importRows)
      .where(eq(importRows.import_id, id))
      .orderBy(asc(importRows.row_number)),
  )
  const outcomes = new Map((await loadImportOrders(id)).map(({ group_key, outcome }) => [group_key, outcome]))
  return rows.map((row) => ({ ...row, outcome: row.outcome ?? outcomes.get(row.group_key ?? '') ?? null }))
}

export const buildMessage = (id: string, epoch = 7): ImportWorkMessage => ({
  type: 'import.work',
  import_id: id,
  epoch,
})

/** Makes a machine that takes messages of imports. Time passes with each look at its clock. */
export function createImporter({ death = null, tick = 0 }: { death?: Death | null; tick?: number } = {}) {
  const enqueued: ImportWorkMessage[] = []
  let now = Date.now()
  const meter = newMeter()
  const job: JobCtx = {
    ...createContextAt(now),
    db: death ? new Database(createCrashingClient(death), meter) : new Database(env.DB, meter),
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

/** Processes the message and all that follow from it. */
export async function runToEnd(id: string, epoch = 7): Promise<void> {
  const machine = createImporter()
  await machine.take(buildMessage(id, epoch))
  for (let next = machine.enqueued.shift(); next; next = machine.enqueued.shift()) await machine.take(next)
}

/** Expects each order once, an outcome for every row, and counters that equal the numbers of rows. */
export async function expectExact(shop: Shop, id: string) {
  const [row, rows, orders] = await Promise.all([loadImport(id), loadRows(id), loadImportOrders(id)])
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
    expect([outcome, number]).toEqual([outcome, rows.filter((listed) => listed.outcome === outcome).length])
  const reasonless = rows.filter(({ outcome, errors }) => outcome === 'error' && errors.length === 0)
  expect(reasonless).toEqual([])
  const created = orders.flatMap(({ outcome, order_id }) => (outcome === 'created' ? [order_id] : []))
  expect(new Set(created).size).toBe(created.length)
  const twice = await db.all(sql`select external_id from orders where edition_id = ${shop.edition_id}
    group by external_id having count(*) > 1`)
  expect(twice).toEqual([])
  return { row, rows, orders }
}
