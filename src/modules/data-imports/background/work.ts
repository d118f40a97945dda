import { asc, lte, sql } from 'drizzle-orm'
import type { ImportPreviewMessage, ImportWorkMessage, JobCtx } from '../../../context.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { decodeAs, select } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import {
  dataImportLifecycle,
  heartbeatLostMs,
  maxStalls,
  type ImportPhase,
} from '../../../domain/data-imports/data-imports.ts'
import { enqueueImports } from '../enqueue.ts'
import { countPreview } from '../preview/count-preview.ts'
import { buildCopyRemoval } from '../retention/files.ts'
import { importStep } from '../run/import-step.ts'
import { parseStep } from '../staging/parse.ts'
import { stageStep } from '../staging/stage.ts'
import { undoStep } from '../undo/step.ts'
import { failPhase, importFields, type ImportRow, loadActiveImport, type PhaseStep } from './steps.ts'

const phaseSteps: Record<ImportPhase, PhaseStep> = {
  parse: parseStep,
  stage: stageStep,
  import: importStep,
  undo: undoStep,
}

/** A consumer works on an import this long and then enqueues the rest behind other imports. */
const turnMs = 10_000
/** Requests wait for the same isolate, so the work pauses this often. */
const pauseEveryMs = 250
const importsPerSweep = 100

type ImportMessage = ImportWorkMessage | ImportPreviewMessage

export function isImportMessage(body: unknown): body is ImportMessage {
  if (typeof body !== 'object' || body === null) return false
  const { type, import_id, epoch } = body as Partial<Record<string, unknown>>
  const isKnown = type === 'import.preview' || (type === 'import.work' && typeof epoch === 'number')
  return isKnown && typeof import_id === 'string'
}

/** Works on an import until its phase ends or the turn is over. A message of an older epoch does nothing. */
export async function workOnImport(job: JobCtx, id: string, epoch: number, endsAt = job.now() + turnMs): Promise<void> {
  let row = await loadActiveImport(job, { id, epoch })
  let pausesAt = endsAt - turnMs + pauseEveryMs
  while (row?.phase) {
    row = await phaseSteps[row.phase](job, row)
    const now = job.now()
    if (row && now >= endsAt) return enqueueImports(job, [row])
    if (now < pausesAt) continue
    await scheduler.wait(0)
    pausesAt = now + pauseEveryMs
  }
}

export async function workOnImports(job: JobCtx, messages: readonly ImportMessage[]): Promise<void> {
  for (const message of messages)
    if (message.type === 'import.preview') await countPreview(job, message, job.now() + turnMs)
    else await workOnImport(job, message.import_id, message.epoch)
}

/** Restarts stalled work under a new epoch. Returns null when another consumer has continued it. */
async function restartWork(job: JobCtx, row: ImportRow): Promise<ImportRow | null> {
  const next = { epoch: row.epoch + 1, stalls: row.stalls + 1, heartbeat_at: job.now() }
  const isAsRead = sql`id = ${row.id} and epoch = ${row.epoch} and heartbeat_at = ${row.heartbeat_at}`
  const [restartedRow] = await job.db.all(
    decodeAs(importFields, sql<ImportRow>`${update(dataImports, next, isAsRead)} returning *`),
  )
  return restartedRow ?? null
}

const stallFault = {
  code: 'import_stalled',
  message: `The import stopped ${maxStalls} times at the same place. Contact support.`,
}

export async function sweepImports(job: JobCtx): Promise<void> {
  const silentImports = await job.db.all(
    select(importFields)
      .from(dataImports)
      .where(lte(dataImports.heartbeat_at, job.now() - heartbeatLostMs))
      .orderBy(asc(dataImports.heartbeat_at))
      .limit(importsPerSweep),
  )
  for (const row of silentImports) {
    const hasTooManyStalls = row.stalls >= maxStalls && dataImportLifecycle.allows(row.status, 'failed')
    if (hasTooManyStalls)
      await failPhase(job, row, stallFault, row.phase === 'parse' ? await buildCopyRemoval(job, row.id) : [])
    else await restartWork(job, row).then((restartedRow) => restartedRow && enqueueImports(job, [restartedRow]))
  }
}
