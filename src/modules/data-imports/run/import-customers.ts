import type { JobCtx } from '../../../context.ts'
import { races } from '../../order-import/index.ts'
import { commitStep, holdsPosition, type ImportRow } from '../background/steps.ts'
import { createUndoData } from '../users/undo-data.ts'
import { buildCounters, buildOutcomeStatements } from './outcomes.ts'
import { buildUserRun, planCustomers } from './plan-customers.ts'
import { mapStagedCustomers } from './read-customers.ts'
import { loadOrders, selectOrdersAfter } from './read-orders.ts'
import { computeProgress, finishImport, getRunPosition, maxTries } from './run-position.ts'
import { loadSetting, type RunSetting } from './setting.ts'

export const customersPerChunk = 100

/** Settings by the job of a message, so that all steps of one message share them. */
const settings = new WeakMap<JobCtx, { epoch: number; setting: RunSetting }>()

async function loadSettingOnce(job: JobCtx, row: ImportRow): Promise<RunSetting> {
  const cachedSetting = settings.get(job)
  if (cachedSetting?.setting.row.id === row.id && cachedSetting.epoch === row.epoch) return cachedSetting.setting
  const setting = await loadSetting(job.db, row)
  settings.set(job, { epoch: row.epoch, setting })
  return setting
}

/** Imports one chunk. Returns undefined for a lost race, and null when the phase has ended or moved on. */
async function importChunk(job: JobCtx, row: ImportRow, limit: number): Promise<ImportRow | null | undefined> {
  const position = getRunPosition(row)
  const { after: before = 0, changeable } = position
  const setting = await loadSettingOnce(job, row)
  const stagedCustomers = await loadOrders(job.db, row.id, selectOrdersAfter(row.id, before, limit))
  const after = stagedCustomers.at(-1)?.number
  if (after === undefined) return finishImport(job, row)
  const fileCustomers = mapStagedCustomers(setting, stagedCustomers, { changeable, now: job.now() })
  const run = buildUserRun(setting, { changeable, import_id: row.id })
  const { customers, plan } = await planCustomers(job, setting, run, fileCustomers)
  const changes = buildCounters(row, customers)
  const records = plan.records.map((record) => ({
    outcome: record.outcome,
    order_version: null,
    undo: record.outcome.action === 'skipped' ? null : createUndoData(record),
  }))
  const next = await commitStep(job, row, {
    position: { ...position, after, progress: computeProgress(row, changes.processed_rows) },
    changes,
    statements: [...plan.statements, ...buildOutcomeStatements(row.id, customers, records)],
    races,
  })
  if (next) return next
  return (await holdsPosition(job, row)) ? undefined : null
}

/** Imports the next customers. Those who race with other requests are decided again, finally one by one. */
export async function importCustomers(job: JobCtx, row: ImportRow): Promise<ImportRow | null> {
  for (const limit of [customersPerChunk, 1])
    for (let tries = 1; tries <= maxTries; tries++) {
      const next = await importChunk(job, row, limit)
      if (next !== undefined) return next
    }
  throw new Error(`A customer of ${row.id} lost the race against other requests ${2 * maxTries} times.`)
}
