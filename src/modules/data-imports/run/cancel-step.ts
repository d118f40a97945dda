import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { countRows, type RowCounts, type RowOutcome, undoDays } from '../../../domain/data-imports/data-imports.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import { selectRowOutcome } from '../background/staged.ts'
import { commitStep, endPhase, type ImportRow } from '../background/steps.ts'

const cancelledOutcome: RowOutcome = 'cancelled'
const createdOutcome: RowOutcome = 'created'

const rowsPerStep = 5000

const countDecidedRows = (storedCounts: RowCounts | null): number =>
  Object.values(storedCounts ?? {}).reduce((sum, rows) => sum + rows, 0)

/** Marks the next rows, and the orders that begin in them, as cancelled. An order has the number of its first row. */
export async function cancelStep(job: JobCtx, row: ImportRow): Promise<ImportRow | null> {
  const cancelled_rows = 'cancelled_rows' in row.position ? row.position.cancelled_rows : 0
  const [last] = await job.db.all(
    sql<{
      row_number: number | null
    }>`select max(row_number) as row_number from import_rows where import_id = ${row.id}`,
  )
  const to = cancelled_rows + rowsPerStep
  const isLast = to >= (last?.row_number ?? 0)
  const statements = [
    sql`update import_orders set outcome = ${cancelledOutcome} where import_id = ${row.id} and outcome is null
      and number > ${cancelled_rows} and number <= ${to}`,
    sql`update import_rows set outcome = ${cancelledOutcome} where import_id = ${row.id} and outcome is null
      and row_number > ${cancelled_rows} and row_number <= ${to}
      and ${selectRowOutcome(sql`import_rows`)} is not ${createdOutcome}`,
  ]
  if (!isLast) return commitStep(job, row, { position: { cancelled_rows: to }, statements })
  const now = job.now()
  const hasOrders = row.created_orders + row.updated_orders > 0
  return endPhase(job, row, {
    status: 'cancelled',
    changes: {
      processed_rows: row.total_rows,
      completed_at: now,
      row_counts: countRows(row.row_counts, { cancelled: row.total_rows - countDecidedRows(row.row_counts) }),
      undo_until: hasOrders ? now + undoDays * dayMs : null,
    },
    statements,
  })
}
