import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { undoDays } from '../../../domain/data-imports/data-imports.ts'
import type { RunPosition } from '../../../domain/data-imports/import-position.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import { announceEnd } from '../announcement.ts'
import { buildPositionError, commitStep, endPhase, type ImportRow } from '../background/steps.ts'

export function getRunPosition(row: ImportRow): RunPosition {
  if (row.position.stage === undefined && 'changeable' in row.position) return row.position
  throw buildPositionError(row)
}

export const maxTries = 5

/** Computes the progress from 0 to 1, rounded down to hundredths. */
export const computeProgress = ({ total_rows }: ImportRow, processedRows: number): number =>
  total_rows === 0 ? 1 : Math.floor((100 * processedRows) / total_rows) / 100

/** Continues before the first order without an outcome. */
export async function resumeImport(job: JobCtx, row: ImportRow): Promise<ImportRow | null> {
  const undecidedRow = await job.db.first(
    sql<{ number: number | null; rows: number }>`select min(number) as number, coalesce(sum(rows_count), 0) as rows
      from import_orders where import_id = ${row.id} and outcome is null`,
  )
  const { changeable } = getRunPosition(row)
  const after = undecidedRow?.number ? undecidedRow.number - 1 : row.total_rows
  const processed_rows = row.total_rows - (undecidedRow?.rows ?? 0)
  const position = { after, changeable, progress: computeProgress(row, processed_rows) }
  return commitStep(job, row, { position, changes: { processed_rows } })
}

export function finishImport(job: JobCtx, row: ImportRow): Promise<null> {
  const hasFaults = row.failed_orders > 0 || row.invalid_rows > 0
  const importedOrders = row.created_orders + row.updated_orders
  const isFailed = hasFaults && importedOrders + row.skipped_orders === 0
  const now = job.now()
  const failure = {
    error_code: row.kind === 'customers' ? 'all_customers_failed' : 'all_orders_failed',
    error_message: `None of the ${row.kind} could be imported. The rows show the reasons.`,
  }
  const status = isFailed ? 'failed' : hasFaults ? 'completed_with_errors' : 'completed'
  return endPhase(job, row, {
    status,
    statements: announceEnd(job, row, status),
    changes: {
      completed_at: now,
      undo_until: importedOrders > 0 ? now + undoDays * dayMs : null,
      ...(isFailed ? failure : {}),
    },
  })
}
