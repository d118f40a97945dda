import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { commitPart, holdsOrAborts } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { update } from '../../../db/write.ts'
import {
  type DataImportStatus,
  dataImportLifecycle,
  heartbeatEveryMs,
  type ImportPhase,
} from '../../../domain/data-imports/data-imports.ts'
import type { ImportPosition } from '../../../domain/data-imports/import-position.ts'
import { LostRace } from '../../../domain/errors.ts'

export type ImportRow = typeof dataImports.$inferSelect
export const importFields = getTableColumns(dataImports)
export type ImportChanges = Partial<ImportRow>

/**
 * One bounded piece of a phase: loads, decides and commits. Answers the import as the step left it, or null where its
 * phase is over or another consumer has continued it.
 */
export type PhaseStep = (job: JobCtx, row: ImportRow) => Promise<ImportRow | null>

export interface ImportStep {
  changes?: ImportChanges
  /** Statements of the step's transaction, after the change of the import itself. */
  statements?: readonly Statement[]
  /** Unique indexes whose violation by the statements is a lost race. */
  races?: Readonly<Record<string, () => Error>>
}

/** True while the import has the position that was read. A change of its position, phase or epoch ends older steps. */
const isWhereRead = ({ id, epoch, position, phase, status }: ImportRow): SQL =>
  sql`id = ${id} and epoch = ${epoch} and position = ${sql.param(position, dataImports.position)}
    and phase is ${phase} and status = ${status}`

/** Commits the change of the import with the statements, unless the import is not where it was read any more. */
async function commitWhereRead(
  job: JobCtx,
  row: ImportRow,
  { changes, statements, races }: Required<ImportStep>,
): Promise<ImportRow | null> {
  // The condition is judged of this one row. An import is never deleted.
  const where = sql`id = ${row.id} and ${holdsOrAborts(isWhereRead(row))}`
  try {
    await commitPart(job, [update(dataImports, changes, where), ...statements], races)
  } catch (error) {
    if (error instanceof LostRace) return null
    throw error
  }
  return { ...row, ...changes }
}

const heartbeat = ({ heartbeat_at }: ImportRow, now: number): ImportChanges =>
  heartbeat_at !== null && now - heartbeat_at < heartbeatEveryMs ? {} : { heartbeat_at: now }

/**
 * Commits the statements of a step with its new position: a message that comes twice, late or to two consumers writes
 * nothing twice. With statements, `position` has to differ from the one before.
 */
export const commitStep = (
  job: JobCtx,
  row: ImportRow,
  step: ImportStep & { position: ImportPosition },
): Promise<ImportRow | null> =>
  commitWhereRead(job, row, {
    changes: { ...step.changes, position: step.position, ...heartbeat(row, job.now()), stalls: 0 },
    statements: step.statements ?? [],
    races: step.races ?? {},
  })

/** A position of another phase, which no transition leaves behind. */
export const misplaced = ({ id, phase, position }: ImportRow): Error =>
  new Error(`${id} cannot continue its phase ${phase} at ${JSON.stringify(position)}.`)

/** True when a step lost a race of its own statements, and no other consumer has continued the import. */
export const isStillThere = async (job: JobCtx, row: ImportRow): Promise<boolean> =>
  (await job.db.first(sql`select 1 from data_imports where ${isWhereRead(row)}`)) !== undefined

/** Commits the last step of a phase. The import waits in `status` for its user. Always null. */
export async function endPhase(
  job: JobCtx,
  row: ImportRow,
  step: ImportStep & { status: DataImportStatus },
): Promise<null> {
  const { status, changes, statements = [], races = {} } = step
  if (!dataImportLifecycle.allows(row.status, status)) throw new Error(`${row.status} does not lead to ${status}`)
  const now = job.now()
  const ended = { phase: null, heartbeat_at: null, stalls: 0, position: {} }
  await commitWhereRead(job, row, {
    changes: { ...changes, ...ended, status, version: row.version + 1, modified_at: now },
    statements,
    races,
  })
  return null
}

/** Ends a phase with an import that needs its user. */
export const failPhase = (job: JobCtx, row: ImportRow, fault: { code: string; message: string }): Promise<null> =>
  endPhase(job, row, { status: 'failed', changes: { error_code: fault.code, error_message: fault.message } })

/** The columns with which background work begins. The verb commits them and enqueues the work with the new epoch. */
export const beginPhase = (row: Pick<ImportRow, 'epoch'>, phase: ImportPhase, now: number) =>
  ({
    phase,
    epoch: row.epoch + 1,
    position: {},
    heartbeat_at: now,
    stalls: 0,
    error_code: null,
    error_message: null,
  }) satisfies ImportChanges

/** The columns with which background work ends, at any position. */
export const stopPhase = (row: Pick<ImportRow, 'epoch'>) =>
  ({ phase: null, epoch: row.epoch + 1, position: {}, heartbeat_at: null, stalls: 0 }) satisfies ImportChanges

export const enqueueImports = (
  job: Pick<JobCtx, 'jobQueue'>,
  rows: readonly { id: string; epoch: number }[],
): Promise<void> =>
  job.jobQueue.enqueue(
    'imports',
    rows.map(({ id, epoch }) => ({ type: 'import.work', import_id: id, epoch })),
  )
