import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { ordersPerChunk } from '../../../domain/data-imports/data-imports.ts'
import type { RunPosition } from '../../../domain/data-imports/import-position.ts'
import { type ImportRun, type ImportState, planGroup, races, readGroupInTransaction } from '../../order-import/index.ts'
import { pickReceiptMessage, enqueueEmails } from '../../transactional-emails/index.ts'
import { commitStep, type ImportRow, holdsPosition, type PhaseStep } from '../background/steps.ts'
import { cancelStep } from './cancel-step.ts'
import { importCustomers } from './import-customers.ts'
import { OrderWindow } from './order-window.ts'
import { buildCounters, buildOutcomeStatements } from './outcomes.ts'
import { takeGroup, numberOrders, planOrders } from './plan-orders.ts'
import { type FileOrder, mapStagedOrders } from './read-orders.ts'
import { computeProgress, finishImport, getRunPosition, maxTries, resumeImport } from './run-position.ts'
import { loadSetting, type RunSetting, getImportSource } from './setting.ts'

/** The orders of one transaction. `state` is set when the transaction before has already read it. */
interface Chunk {
  fileOrders: readonly FileOrder[]
  state?: () => ImportState
}

interface LoadedRun {
  epoch: number
  run: ImportRun
  setting: RunSetting
  window: OrderWindow
  /** The chunk after this order number, which the last transaction has read. */
  prefetchedChunk: { after: number; chunk: Chunk } | null
}

/** Loaded runs by the job of a message, so that all steps of one message share them. */
const runs = new WeakMap<JobCtx, LoadedRun>()

async function loadRun(job: JobCtx, row: ImportRow, { changeable }: RunPosition): Promise<LoadedRun> {
  const cachedRun = runs.get(job)
  if (cachedRun?.setting.row.id === row.id && cachedRun.epoch === row.epoch) return cachedRun
  const setting = await loadSetting(job.db, row)
  const { edition, options, definitions } = setting
  const run: ImportRun = {
    edition,
    source: getImportSource(row),
    on_duplicate: options.on_duplicate,
    dry_run: false,
    import_id: row.id,
    changeable,
    definitions,
    false_means_skipped: options.skipped,
    emit_webhooks: options.emit_webhooks,
    receipt_message: options.send_receipts ? await pickReceiptMessage(job, edition) : null,
  }
  const loadedRun = { epoch: row.epoch, run, setting, window: new OrderWindow(job.db, row.id), prefetchedChunk: null }
  runs.set(job, loadedRun)
  return loadedRun
}

/** Takes the prefetched chunk, or reads the next one. A chunk that loses a race is read again. */
async function takeChunk(job: JobCtx, loadedRun: LoadedRun, after: number, limit: number): Promise<Chunk> {
  const { prefetchedChunk, setting, window } = loadedRun
  loadedRun.prefetchedChunk = null
  if (prefetchedChunk?.after === after) return prefetchedChunk.chunk
  return { fileOrders: takeGroup(await mapStagedOrders(job.db, setting, await window.next(after, limit))) }
}

/** Reads the next chunk in the transaction of the current one, which saves a round trip. `apply` follows the commit. */
async function prefetchChunk(
  job: JobCtx,
  loadedRun: LoadedRun,
  after: number,
  plannedState: Pick<ImportState, 'has_hashes'>,
): Promise<{ statements: Statement[]; apply: () => void }> {
  const { run, setting, window } = loadedRun
  const stagedOrders = window.peek(after, ordersPerChunk)
  const fileOrders = takeGroup(await mapStagedOrders(job.db, setting, stagedOrders))
  const state = readGroupInTransaction(run, numberOrders(fileOrders), plannedState)
  const further = window.prefetch(after, fileOrders.at(-1)?.stagedOrder.number ?? after, ordersPerChunk)
  return {
    statements: [...(fileOrders.length > 0 ? state.statements : []), ...further.statements],
    apply: () => {
      further.apply()
      if (fileOrders.length > 0) loadedRun.prefetchedChunk = { after, chunk: { fileOrders, state: state.rows } }
    },
  }
}

/** Imports one chunk. Returns undefined for a lost race, and null when the phase has ended or moved on. */
async function importChunk(job: JobCtx, row: ImportRow, limit: number): Promise<ImportRow | null | undefined> {
  const position = getRunPosition(row)
  const { after: before = 0 } = position
  const loadedRun = await loadRun(job, row, position)
  const { run, setting } = loadedRun
  const { fileOrders, state } = await takeChunk(job, loadedRun, before, limit)
  if (fileOrders.length === 0) return finishImport(job, row)
  const { orders, plannedGroup } = await planOrders(job.db, setting, fileOrders, (group) =>
    planGroup(job, run, group, state?.()),
  )
  const after = fileOrders.at(-1)?.stagedOrder.number ?? before
  const changes = buildCounters(row, orders)
  const ahead = await prefetchChunk(job, loadedRun, after, plannedGroup)
  const next = await commitStep(job, row, {
    position: { ...position, after, progress: computeProgress(row, changes.processed_rows) },
    changes,
    statements: [
      ...plannedGroup.statements,
      ...buildOutcomeStatements(row.id, orders, plannedGroup.decision.buildRecords()),
      ...ahead.statements,
    ],
    races,
  })
  if (!next) return (await holdsPosition(job, row)) ? undefined : null
  ahead.apply()
  if (run.receipt_message !== null && plannedGroup.decision.receipts.length > 0) await enqueueEmails(job)
  return next
}

/** Imports the next chunk. Orders that race with other requests are decided again, finally one by one. */
export const importStep: PhaseStep = async (job, row) => {
  if (row.status === 'cancelling') return cancelStep(job, row)
  const { after } = getRunPosition(row)
  if (after === undefined) return resumeImport(job, row)
  if (row.kind === 'customers') return importCustomers(job, row)
  for (const limit of [ordersPerChunk, 1])
    for (let tries = 1; tries <= maxTries; tries++) {
      const next = await importChunk(job, row, limit)
      if (next !== undefined) return next
    }
  throw new Error(`An order of ${row.id} lost the race against other requests ${2 * maxTries} times.`)
}
