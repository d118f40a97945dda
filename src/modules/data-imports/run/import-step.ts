import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { ordersPerChunk, undoDays } from '../../../domain/data-imports/data-imports.ts'
import type { RunPosition } from '../../../domain/data-imports/import-position.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import { type ImportRun, type ImportState, planGroup, races, readGroupWithin } from '../../order-import/index.ts'
import { receiptMessageOf, enqueueEmails } from '../../transactional-emails/index.ts'
import {
  commitStep,
  endPhase,
  type ImportRow,
  holdsPosition,
  buildPositionError,
  type PhaseStep,
} from '../background/steps.ts'
import { cancelStep } from './cancel-step.ts'
import { buildCounters, buildOutcomeStatements } from './outcomes.ts'
import { OrderWindow } from './order-window.ts'
import { takeFittingOrders, numberOrders, planOrders } from './plan-orders.ts'
import { type ReadOrder, readOrders } from './read-orders.ts'
import { loadSetting, type RunSetting, getImportSource } from './setting.ts'

function getRunPosition(row: ImportRow): RunPosition {
  if ('changeable' in row.position) return row.position
  throw buildPositionError(row)
}

const maxTries = 5

/** From 0 to 1. */
const getShare = ({ total_rows }: ImportRow, processed: number): number =>
  total_rows === 0 ? 1 : Math.floor((100 * processed) / total_rows) / 100

/** Orders that can be decided: those of one transaction, with what was read for them, if it was. */
interface DueOrders {
  read: readonly ReadOrder[]
  state?: () => ImportState
}

interface Loaded {
  epoch: number
  run: ImportRun
  setting: RunSetting
  window: OrderWindow
  /** What the last transaction read for the orders behind this number. */
  next: { after: number; chunk: DueOrders } | null
}

/** A consumer loads the run again with every message. */
const settings = new WeakMap<JobCtx, Loaded>()

async function loadRun(job: JobCtx, row: ImportRow, { changeable }: RunPosition): Promise<Loaded> {
  const cached = settings.get(job)
  if (cached?.setting.row.id === row.id && cached.epoch === row.epoch) return cached
  const setting = await loadSetting(job.db, row)
  const { edition, options, definitions } = setting
  const run: ImportRun = {
    edition,
    source: getImportSource(row),
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
  const loaded = { epoch: row.epoch, run, setting, window: new OrderWindow(job.db, row.id), next: null }
  settings.set(job, loaded)
  return loaded
}

/** Continues before the first order without an outcome. */
async function resumeImport(job: JobCtx, row: ImportRow): Promise<ImportRow | null> {
  const open = await job.db.first(
    sql<{ number: number | null; rows: number }>`select min(number) as number, coalesce(sum(rows_count), 0) as rows
      from import_orders where import_id = ${row.id} and outcome is null`,
  )
  const { changeable } = getRunPosition(row)
  const after = open?.number ? open.number - 1 : row.total_rows
  const processed_rows = row.total_rows - (open?.rows ?? 0)
  const position = { after, changeable, progress: getShare(row, processed_rows) }
  return commitStep(job, row, { position, changes: { processed_rows } })
}

function finishImport(job: JobCtx, row: ImportRow): Promise<null> {
  const hasFaults = row.failed_orders > 0 || row.invalid_rows > 0
  const importedOrders = row.created_orders + row.updated_orders
  const isFailed = hasFaults && importedOrders + row.skipped_orders === 0
  const now = job.now()
  const failure = {
    error_code: 'all_orders_failed',
    error_message: 'None of the orders could be imported. The rows show the reasons.',
  }
  return endPhase(job, row, {
    status: isFailed ? 'failed' : hasFaults ? 'completed_with_errors' : 'completed',
    changes: {
      completed_at: now,
      undo_until: importedOrders > 0 ? now + undoDays * dayMs : null,
      ...(isFailed ? failure : {}),
    },
  })
}

/** A lost race discards what was read ahead. */
async function takeChunk(job: JobCtx, loaded: Loaded, after: number, limit: number): Promise<DueOrders> {
  const { next, setting, window } = loaded
  loaded.next = null
  if (next?.after === after) return next.chunk
  return { read: takeFittingOrders(await readOrders(job.db, setting, await window.next(after, limit))) }
}

/** The transaction reads what the next one needs, which saves a round trip. */
async function readAhead(
  job: JobCtx,
  loaded: Loaded,
  after: number,
  planned: Pick<ImportState, 'has_hashes'>,
): Promise<{ statements: Statement[]; take: () => void }> {
  const { run, setting, window } = loaded
  const stagedOrders = window.known(after, ordersPerChunk)
  const read = takeFittingOrders(await readOrders(job.db, setting, stagedOrders))
  const state = readGroupWithin(run, numberOrders(read), planned)
  const more = window.readOn(after, read.at(-1)?.row.number ?? after, ordersPerChunk)
  return {
    statements: [...(read.length > 0 ? state.statements : []), ...more.statements],
    take: () => {
      more.take()
      if (read.length > 0) loaded.next = { after, chunk: { read, state: state.rows } }
    },
  }
}

/** Answers undefined for a lost race. */
async function importChunk(job: JobCtx, row: ImportRow, limit: number): Promise<ImportRow | null | undefined> {
  const position = getRunPosition(row)
  const { after: before = 0 } = position
  const loaded = await loadRun(job, row, position)
  const { run, setting } = loaded
  const { read, state } = await takeChunk(job, loaded, before, limit)
  if (read.length === 0) return finishImport(job, row)
  const { orders, planned } = await planOrders(job.db, setting, read, (group) => planGroup(job, run, group, state?.()))
  const after = read.at(-1)?.row.number ?? before
  const changes = buildCounters(row, orders)
  const ahead = await readAhead(job, loaded, after, planned)
  const next = await commitStep(job, row, {
    position: { ...position, after, progress: getShare(row, changes.processed_rows) },
    changes,
    statements: [
      ...planned.statements,
      ...buildOutcomeStatements(row.id, orders, planned.decision.recorded()),
      ...ahead.statements,
    ],
    races,
  })
  if (!next) return (await holdsPosition(job, row)) ? undefined : null
  ahead.take()
  if (run.receipt_message !== null && planned.decision.receipts.length > 0) await enqueueEmails(job)
  return next
}

/** Orders that race with other requests are decided again, at last one by one. */
export const importStep: PhaseStep = async (job, row) => {
  if (row.status === 'cancelling') return cancelStep(job, row)
  const { after } = getRunPosition(row)
  if (after === undefined) return resumeImport(job, row)
  for (const limit of [ordersPerChunk, 1])
    for (let tries = 1; tries <= maxTries; tries++) {
      const next = await importChunk(job, row, limit)
      if (next !== undefined) return next
    }
  throw new Error(`An order of ${row.id} was changed by others again and again.`)
}
