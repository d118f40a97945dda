import { and, eq, getTableColumns, isNull, sql } from 'drizzle-orm'
import type { ImportPreviewMessage, JobCtx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import type { Database } from '../../../db/database.ts'
import { dataImports, importPreviews } from '../../../db/schema/data-imports.ts'
import { decodeAs, select } from '../../../db/select.ts'
import { insert, update } from '../../../db/write.ts'
import type { PreviewTotals } from '../../../domain/data-imports/data-imports.ts'
import { importFields, type ImportRow } from '../background/steps.ts'
import { enqueuePreview } from '../enqueue.ts'
import { previewOrders, getAction, loadPreviewSetting } from './preview.ts'
import type { PreviewedOrder } from './previewed-order.ts'

/** Orders are counted while the import waits for its start. */
export const countedStatuses = ['mapping_products', 'ready'] as const

const ordersPerStep = 1000
/** A count without progress for this time is started again. */
const stalledMs = 60_000
/** Totals of this age are counted again. */
const staleMs = 600_000

type CountRow = typeof importPreviews.$inferSelect
const countFields = getTableColumns(importPreviews)

export const noTotals: PreviewTotals = { create: 0, update: 0, skip: 0, error: 0, ignore: 0 }

export function addToTotals(totals: PreviewTotals, orders: readonly PreviewedOrder[]): PreviewTotals {
  const sums = { ...totals }
  for (const order of orders) sums[getAction(order)]++
  return sums
}

const lookalikeCodes: readonly string[] = ['looks_imported', 'similar_order']

/** Counts rows without an order id that look like orders that exist. */
export const countLookalikes = (orders: readonly PreviewedOrder[]): number =>
  orders.filter(({ plannedOrder }) => plannedOrder.warnings.some(({ code }) => lookalikeCodes.includes(code))).length

type CountedImport = Pick<ImportRow, 'id' | 'version' | 'total_orders'>

const isComplete = ({ totals }: CountRow, { total_orders }: CountedImport): boolean =>
  Object.values(totals).reduce((sum, count) => sum + count, 0) === total_orders

const findCount = (db: Database, { id, version }: CountedImport): Promise<CountRow | undefined> =>
  db.first(
    select(countFields)
      .from(importPreviews)
      .where(and(eq(importPreviews.import_id, id), eq(importPreviews.version, version))),
  )

export interface PreviewCount {
  /** Null until all orders of this version of the import are counted. */
  totals: PreviewTotals | null
  lookalikes: number
  /** True if counting has to begin or to continue. */
  isDue: boolean
}

export async function loadPreviewCount(db: Database, row: CountedImport, now: number): Promise<PreviewCount> {
  const count = await findCount(db, row)
  if (!count) return { totals: null, lookalikes: 0, isDue: true }
  const { totals, lookalikes, counted_at } = count
  const age = now - counted_at
  if (!isComplete(count, row)) return { totals: null, lookalikes, isDue: age >= stalledMs }
  return age < staleMs ? { totals, lookalikes, isDue: false } : { totals: null, lookalikes, isDue: true }
}

const findWaitingImport = (db: Database, id: string): Promise<ImportRow | undefined> =>
  db.first(
    select(importFields)
      .from(dataImports)
      .where(
        and(eq(dataImports.id, id), isNull(dataImports.phase), inList(sql`${dataImports.status}`, countedStatuses)),
      ),
  )

/** Returns the count to continue, or a new one for a changed import and for old totals. Null when nothing is due. */
async function openCount({ db, now }: JobCtx, row: ImportRow): Promise<CountRow | null> {
  const count = await findCount(db, row)
  if (count && !isComplete(count, row)) return count
  if (count && now() - count.counted_at < staleMs) return null
  const emptyCount = { last_number: 0, totals: noTotals, lookalikes: 0 }
  const newPreview = { import_id: row.id, version: row.version, ...emptyCount, counted_at: now() }
  await db.batch([
    sql`${insert(importPreviews, newPreview)} on conflict (import_id) do update set version = excluded.version,
      last_number = excluded.last_number, totals = excluded.totals, lookalikes = excluded.lookalikes,
      counted_at = excluded.counted_at`,
  ])
  return newPreview
}

/** Stores the progress of the count. Returns null when another consumer has continued or restarted it. */
async function commitCount(job: JobCtx, count: CountRow, orders: readonly PreviewedOrder[]): Promise<CountRow | null> {
  const changes = {
    last_number: orders.at(-1)?.plannedOrder.fileOrder.stagedOrder.number ?? count.last_number,
    totals: addToTotals(count.totals, orders),
    lookalikes: count.lookalikes + countLookalikes(orders),
    counted_at: job.now(),
  }
  const isAsRead = sql`import_id = ${count.import_id} and version = ${count.version}
    and last_number = ${count.last_number}`
  const [changedRow] = await job.db.all(
    decodeAs(countFields, sql<CountRow>`${update(importPreviews, changes, isAsRead)} returning *`),
  )
  return changedRow ?? null
}

/** Counts orders by what the import would do with them. The next consumer continues after one that dies. */
export async function countPreview(job: JobCtx, { import_id }: ImportPreviewMessage, endsAt: number): Promise<void> {
  const row = await findWaitingImport(job.db, import_id)
  let count = row ? await openCount(job, row) : null
  if (!row || !count) return
  // Whoever had the file read counts as the one who will start the import.
  const changeable = row.uses_organization_memory ? null : [row.edition_id]
  const setting = await loadPreviewSetting(job, row, changeable)
  while (count) {
    const orders = await previewOrders(job, setting, { after: count.last_number, limit: ordersPerStep })
    if (orders.length === 0) return
    count = await commitCount(job, count, orders)
    if (count && job.now() >= endsAt) return enqueuePreview(job, import_id)
  }
}
