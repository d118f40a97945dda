import { expect } from 'vitest'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import type { ImportPreviewMessage, ImportWorkMessage, JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import { dataImports, importOrders, importRows } from '../../src/db/schema/data-imports.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { workOnImports } from '../../src/modules/data-imports/jobs.ts'
import { contextAt } from './context.ts'
import type { Shop } from './seeding/orders.ts'
import { db } from './seeding/rows.ts'
import { type Death, dyingClient } from './segments.ts'

export const importNow = async (id: string): Promise<typeof dataImports.$inferSelect> => {
  const row = await db.first(sql<typeof dataImports.$inferSelect>`select * from data_imports where id = ${id}`)
  if (!row) throw new Error('there is no such import')
  return row
}

/** Rows with what became of them: what stands at no row of its own stands at its order. */
export const rowsNow = (id: string) =>
  db.all(
    sql<typeof importRows.$inferSelect>`select import_rows.*, coalesce(import_rows.outcome, its.outcome) as outcome
      from import_rows left join import_orders its
        on its.import_id = import_rows.import_id and its.group_key = import_rows.group_key
      where import_rows.import_id = ${id} order by row_number`,
  )
export const ordersNow = (id: string) =>
  db.all(sql<typeof importOrders.$inferSelect>`select * from import_orders where import_id = ${id} order by number`)

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
  const counts = Object.entries(JSON.parse(row.row_counts ?? '{}') as Record<string, number>)
  for (const [outcome, number] of counts)
    expect([outcome, number]).toEqual([outcome, rows.filter((one) => one.outcome === outcome).length])
  const reasonless = rows.filter(({ outcome, errors }) => outcome === 'error' && errors === '[]')
  expect(reasonless).toEqual([])
  const created = orders.flatMap(({ outcome, order_id }) => (outcome === 'created' ? [order_id] : []))
  expect(new Set(created).size).toBe(created.length)
  const twice = await db.all(sql`select external_id from orders where edition_id = ${shop.edition_id}
    group by external_id having count(*) > 1`)
  expect(twice).toEqual([])
  return { row, rows, orders }
}
