import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { ordersPerChunk, undoDays } from '../../../domain/data-imports/data-imports.ts'
import type { RunPosition } from '../../../domain/data-imports/import-position.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import { type ImportRun, planGroup, races } from '../../order-import/index.ts'
import { receiptMessageOf, enqueueEmails } from '../../transactional-emails/index.ts'
import { createdUpTo } from '../background/created-orders.ts'
import { commitStep, endPhase, type ImportRow, isStillThere, misplaced, type PhaseStep } from '../background/steps.ts'
import { cancelStep } from './cancel-step.ts'
import { countersAfter, outcomeStatements } from './outcomes.ts'
import { OrderWindow } from './order-window.ts'
import { fitting, planOrders } from './plan-orders.ts'
import { readOrders } from './read-orders.ts'
import { loadSetting, type RunSetting, sourceOf } from './setting.ts'

function positionOf(row: ImportRow): RunPosition {
  if ('changeable' in row.position) return row.position
  throw misplaced(row)
}

const shareOf = ({ total_rows }: ImportRow, processed: number): number =>
  total_rows === 0 ? 1 : Math.floor((100 * processed) / total_rows) / 100

const maxTries = 5

/** What one consumer has loaded; it is loaded anew with every message. */
const settings = new WeakMap<JobCtx, { epoch: number; run: ImportRun; setting: RunSetting; ahead: OrderWindow }>()

async function settingOf(job: JobCtx, row: ImportRow, { changeable }: RunPosition) {
  const known = settings.get(job)
  if (known?.setting.row.id === row.id && known.epoch === row.epoch) return known
  const setting = await loadSetting(job.db, row)
  const { edition, options, definitions } = setting
  const run: ImportRun = {
    edition,
    source: sourceOf(row),
    on_duplicate: options.on_duplicate,
    dry_run: false,
    with_before: true,
    import_id: row.id,
    changeable,
    definitions,
    skipped: options.skipped,
    emit_webhooks: options.emit_webhooks,
    receipt_message: options.send_receipts ? await receiptMessageOf(job, edition) : null,
  }
  const loaded = { epoch: row.epoch, run, setting, ahead: new OrderWindow(job.db, row.id) }
  settings.set(job, loaded)
  return loaded
}

/** Where work goes on that begins anew: before the first order without an outcome. */
async function resumed(job: JobCtx, row: ImportRow): Promise<ImportRow | null> {
  const open = await job.db.first(
    sql<{ number: number | null; rows: number }>`select min(number) as number, coalesce(sum(rows_count), 0) as rows
      from import_orders where import_id = ${row.id} and outcome is null and number > ${createdUpTo(row.id)}`,
  )
  const { changeable } = positionOf(row)
  const after = open?.number ? open.number - 1 : row.total_rows
  const processed_rows = row.total_rows - (open?.rows ?? 0)
  const position = { after, changeable, progress: shareOf(row, processed_rows) }
  return commitStep(job, row, { position, changes: { processed_rows } })
}

/** Ends the import: every row has an outcome. */
function finish(job: JobCtx, row: ImportRow): Promise<null> {
  const hasFaults = row.failed_orders > 0 || row.invalid_rows > 0
  const taken = row.created_orders + row.updated_orders
  const isFailed = hasFaults && taken + row.skipped_orders === 0
  const now = job.now()
  const failure = { error_code: 'all_orders_failed', error_message: 'No order of the file could be imported.' }
  return endPhase(job, row, {
    status: isFailed ? 'failed' : hasFaults ? 'completed_with_errors' : 'completed',
    changes: {
      completed_at: now,
      undo_until: taken > 0 ? now + undoDays * dayMs : null,
      ...(isFailed ? failure : {}),
    },
  })
}

/** Decides on the next orders and commits them with their outcomes and the new position. Undefined for a lost race. */
async function importChunk(job: JobCtx, row: ImportRow, limit: number): Promise<ImportRow | null | undefined> {
  const position = positionOf(row)
  const { after: before = 0 } = position
  const { run, setting, ahead } = await settingOf(job, row, position)
  const loaded = await ahead.next(before, limit)
  if (loaded.orders.length === 0) return finish(job, row)
  const chunk = fitting(await readOrders(job.db, setting, loaded))
  const { orders, planned } = await planOrders(chunk, setting.options, (group) => planGroup(job, run, group))
  const after = chunk.at(-1)?.row.number ?? before
  const changes = countersAfter(row, orders)
  const next = await commitStep(job, row, {
    position: { ...position, after, progress: shareOf(row, changes.processed_rows) },
    changes,
    statements: [...planned.statements, ...outcomeStatements(row.id, orders, planned.decision.recorded())],
    races,
  })
  if (!next) return (await isStillThere(job, row)) ? undefined : null
  if (run.receipt_message !== null && planned.decision.receipts.length > 0) await enqueueEmails(job)
  return next
}

/** Imports the next orders of a file. An order that races with somebody else is decided again, at last by itself. */
export const importStep: PhaseStep = async (job, row) => {
  if (row.status === 'cancelling') return cancelStep(job, row)
  const { after } = positionOf(row)
  if (after === undefined) return resumed(job, row)
  for (const limit of [ordersPerChunk, 1])
    for (let tries = 1; tries <= maxTries; tries++) {
      const next = await importChunk(job, row, limit)
      if (next !== undefined) return next
    }
  throw new Error(`An order of ${row.id} was changed by others again and again.`)
}
