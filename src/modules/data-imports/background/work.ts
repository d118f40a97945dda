import { and, asc, eq, isNotNull, lte, sql } from 'drizzle-orm'
import type { ImportPreviewMessage, ImportWorkMessage, JobCtx } from '../../../context.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { decodeAs, select } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import { dataImportLifecycle, heartbeatLostMs, mostStalls } from '../../../domain/data-imports/data-imports.ts'
import { phaseSteps } from './phases.ts'
import { countPreview } from '../preview/preview-job.ts'
import { enqueueImports, failPhase, importFields, type ImportRow } from './steps.ts'

/** A consumer works this long. Then it enqueues the rest, behind other waiting imports. */
const shareMs = 10_000
/** The longest time without a pause, because requests wait for the same isolate. */
const pauseEveryMs = 250
/** Imports that one sweep enqueues again. */
const importsASweep = 100

type ImportMessage = ImportWorkMessage | ImportPreviewMessage

export function isImportMessage(body: unknown): body is ImportMessage {
  if (typeof body !== 'object' || body === null) return false
  const { type, import_id, epoch, version } = body as Partial<Record<string, unknown>>
  const number = type === 'import.work' ? epoch : type === 'import.preview' ? version : null
  return typeof import_id === 'string' && typeof number === 'number'
}

async function findWork({ db }: JobCtx, id: string, epoch: number): Promise<ImportRow | null> {
  const row = await db.first(
    select(importFields)
      .from(dataImports)
      .where(and(eq(dataImports.id, id), eq(dataImports.epoch, epoch), isNotNull(dataImports.phase))),
  )
  return row ?? null
}

/** Works on an import until its phase ends or the time is over. A message of an older epoch does nothing. */
export async function workOnImport(
  job: JobCtx,
  id: string,
  epoch: number,
  endsAt = job.now() + shareMs,
): Promise<void> {
  let row = await findWork(job, id, epoch)
  let pausesAt = endsAt - shareMs + pauseEveryMs
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
    if (message.type === 'import.preview') await countPreview(job, message, job.now() + shareMs)
    else await workOnImport(job, message.import_id, message.epoch)
}

/** Counts a stall and begins the work again under a new epoch; null when another consumer has continued it. */
async function revive(job: JobCtx, row: ImportRow): Promise<ImportRow | null> {
  const next = { epoch: row.epoch + 1, stalls: row.stalls + 1, heartbeat_at: job.now() }
  const isAsRead = sql`id = ${row.id} and epoch = ${row.epoch} and heartbeat_at = ${row.heartbeat_at}`
  const [revived] = await job.db.all(
    decodeAs(importFields, sql<ImportRow>`${update(dataImports, next, isAsRead)} returning *`),
  )
  return revived ?? null
}

const stalled = {
  code: 'import_stalled',
  message: `The work on this import stopped ${mostStalls} times at the same place.`,
}

/** Begins stalled work again. */
export async function sweepImports(job: JobCtx): Promise<void> {
  const quiet = await job.db.all(
    select(importFields)
      .from(dataImports)
      .where(lte(dataImports.heartbeat_at, job.now() - heartbeatLostMs))
      .orderBy(asc(dataImports.heartbeat_at))
      .limit(importsASweep),
  )
  for (const row of quiet) {
    const isGivenUp = row.stalls >= mostStalls && dataImportLifecycle.allows(row.status, 'failed')
    if (isGivenUp) await failPhase(job, row, stalled)
    else await revive(job, row).then((revived) => revived && enqueueImports(job, [revived]))
  }
}
