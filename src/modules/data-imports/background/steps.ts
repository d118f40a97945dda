import { and, eq, getTableColumns, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { commitPart, holdsOrAborts } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
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
 * One limited piece of a phase, which loads, decides and commits. Returns the import after the step, or null if the
 * phase is over or another consumer has continued it.
 */
export type PhaseStep = (job: JobCtx, row: ImportRow) => Promise<ImportRow | null>

export interface ImportStep {
  changes?: ImportChanges
  /** Statements that follow the change of the import in the same transaction. */
  statements?: readonly Statement[]
  /** Unique indexes that only a lost race violates. */
  races?: Readonly<Record<string, () => Error>>
}

/** Holds while the import is where it was read. Any change of its position, phase or epoch stops older steps. */
const isUnmoved = ({ id, epoch, position, phase, status }: ImportRow): SQL =>
  sql`id = ${id} and epoch = ${epoch} and position = ${sql.param(position, dataImports.position)}
    and phase is ${phase} and status = ${status}`

/** Commits the changes unless the import has moved since it was read. */
async function commitUnmoved(
  job: JobCtx,
  row: ImportRow,
  { changes, statements, races }: Required<ImportStep>,
): Promise<ImportRow | null> {
  // `id =` comes first, so only this row can abort. It always exists, because imports are never deleted.
  const where = sql`id = ${row.id} and ${holdsOrAborts(isUnmoved(row))}`
  try {
    await commitPart(job, [update(dataImports, changes, where), ...statements], races)
  } catch (error) {
    if (error instanceof LostRace) return null
    throw error
  }
  return { ...row, ...changes }
}

const buildHeartbeat = ({ heartbeat_at }: ImportRow, now: number): ImportChanges =>
  heartbeat_at !== null && now - heartbeat_at < heartbeatEveryMs ? {} : { heartbeat_at: now }

/**
 * Commits the statements of a step with its new position, so that a message that comes twice, late or to two consumers
 * writes nothing twice. A step with statements must change `position`, or a repetition would run them again.
 */
export const commitStep = (
  job: JobCtx,
  row: ImportRow,
  step: ImportStep & { position: ImportPosition },
): Promise<ImportRow | null> =>
  commitUnmoved(job, row, {
    changes: { ...step.changes, position: step.position, ...buildHeartbeat(row, job.now()), stalls: 0 },
    statements: step.statements ?? [],
    races: step.races ?? {},
  })

/** Loads an import as it is now, if a phase of this epoch is still under way. */
export async function loadActiveImport({ db }: JobCtx, { id, epoch }: Pick<ImportRow, 'id' | 'epoch'>) {
  const row = await db.first(
    select(importFields)
      .from(dataImports)
      .where(and(eq(dataImports.id, id), eq(dataImports.epoch, epoch), isNotNull(dataImports.phase))),
  )
  return row ?? null
}

/** Builds the error for a position that does not belong to the phase, which no transition can cause. */
export const buildPositionError = ({ id, phase, position }: ImportRow): Error =>
  new Error(`${id} cannot continue its phase ${phase} at ${JSON.stringify(position)}.`)

/**
 * True if the import is still where it was read. A lost race then came from the step's own statements, and the step may
 * be repeated.
 */
export const holdsPosition = async (job: JobCtx, row: ImportRow): Promise<boolean> =>
  (await job.db.first(sql`select 1 from data_imports where ${isUnmoved(row)}`)) !== undefined

/** Commits the last step of a phase. The import then waits for its user in `status`. */
export async function endPhase(
  job: JobCtx,
  row: ImportRow,
  step: ImportStep & { status: DataImportStatus },
): Promise<null> {
  const { status, changes, statements = [], races = {} } = step
  if (!dataImportLifecycle.allows(row.status, status))
    throw new Error(`An import cannot change from ${row.status} to ${status}.`)
  const now = job.now()
  const idleColumns = { phase: null, heartbeat_at: null, stalls: 0, position: {} }
  await commitUnmoved(job, row, {
    changes: { ...changes, ...idleColumns, status, version: row.version + 1, modified_at: now },
    statements,
    races,
  })
  return null
}

export interface PhaseFault {
  code: string
  message: string
}

export const failPhase = (
  job: JobCtx,
  row: ImportRow,
  fault: PhaseFault,
  statements: readonly Statement[] = [],
): Promise<null> =>
  endPhase(job, row, {
    status: 'failed',
    changes: { error_code: fault.code, error_message: fault.message },
    statements,
  })

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

export const stopPhase = (row: Pick<ImportRow, 'epoch'>) =>
  ({ phase: null, epoch: row.epoch + 1, position: {}, heartbeat_at: null, stalls: 0 }) satisfies ImportChanges
