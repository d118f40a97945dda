import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit, addAfterCommit, refuseUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { dataImports } from '../../db/schema/data-imports.ts'
import { updateVersion } from '../../db/write.ts'
import {
  allowsImportAction,
  dataImportLifecycle,
  type DataImportStatus,
  type ImportActionName,
  maxRunningImports,
} from '../../domain/data-imports/data-imports.ts'
import { AppError } from '../../domain/errors.ts'
import { openEditions } from '../editions/index.ts'
import type { ImportChanges, ImportRow } from './background/steps.ts'
import { enqueueImports } from './enqueue.ts'
import type { LoadedImport } from './queries.ts'

const buildTransitionError = ({ status }: { status: DataImportStatus }, participle: string): AppError =>
  new AppError('invalid_transition', `Data import in status '${status}' cannot be ${participle}.`, {
    extra: { current_status: status, allowed_transitions: dataImportLifecycle.targetsOf(status) },
  })

/** Throws unless the status allows the action. `participle` completes the error: cannot be …. */
export function checkAction(ctx: Ctx, row: LoadedImport, action: ImportActionName, participle: string): void {
  if (allowsImportAction(row, action, ctx.now())) return
  if (row.status !== 'importing') throw buildTransitionError(row, participle)
  throw new AppError('import_running', 'This import is running. Wait until it ends, or cancel it.', {
    extra: { current_status: row.status },
  })
}

/** Aborts the transaction when more imports of the organisation than allowed would work at the same time. */
const guardLimit = (organizationId: string): Statement =>
  refuseUnless(
    sql`(select count(*) from data_imports where organization_id = ${organizationId} and phase is not null)
      <= ${maxRunningImports}`,
    'import_limit',
  )

type WorkRow = Pick<ImportRow, 'id' | 'organization_id' | 'epoch'>

const enqueueAfter = (ctx: Ctx, row: WorkRow, statement: Statement): Statement =>
  addAfterCommit(statement, () => enqueueImports(ctx, [row]))

export const buildWorkStatements = (ctx: Ctx, row: WorkRow, statement: Statement): Statement[] => [
  enqueueAfter(ctx, row, statement),
  guardLimit(row.organization_id),
]

/**
 * Commits a change of an import whose edition is open. If the change starts background work, its message is sent after
 * the commit.
 */
export async function commitImport(
  ctx: Ctx,
  row: LoadedImport,
  changes: ImportChanges,
  statements: readonly Statement[] = [],
): Promise<LoadedImport> {
  const changedImport = applyChanges(ctx, row, changes)
  return commit(ctx, changedImport, buildStatements(ctx, row, { changedImport, changes, statements }))
}

/** Like `commitImport`, for operations whose result is not the import. */
export async function commitResult<Result>(
  ctx: Ctx,
  row: LoadedImport,
  next: { changes: ImportChanges; statements: readonly Statement[] },
  buildResult: (changedImport: LoadedImport) => Result | Promise<Result>,
): Promise<Result> {
  const changedImport = applyChanges(ctx, row, next.changes)
  return commit(ctx, await buildResult(changedImport), buildStatements(ctx, row, { changedImport, ...next }))
}

function applyChanges(ctx: Ctx, row: LoadedImport, changes: ImportChanges): LoadedImport {
  const { status } = changes
  if (status !== undefined && status !== row.status && !dataImportLifecycle.allows(row.status, status))
    throw buildTransitionError(row, 'changed like this')
  return { ...row, ...changes, modified_at: ctx.now(), version: row.version + 1 }
}

interface ImportChange {
  changedImport: LoadedImport
  changes: ImportChanges
  statements: readonly Statement[]
}

function buildStatements(
  ctx: Ctx,
  row: LoadedImport,
  { changedImport, changes, statements }: ImportChange,
): Statement[] {
  const { epoch, phase } = changes
  const [change, ...guards] = updateVersion(dataImports, row, { ...changes, modified_at: changedImport.modified_at })
  const hasWork = epoch !== undefined && changedImport.phase !== null
  return [
    ...openEditions(row.edition_id),
    hasWork ? enqueueAfter(ctx, changedImport, change) : change,
    ...guards,
    ...(typeof phase === 'string' ? [guardLimit(row.organization_id)] : []),
    ...statements,
  ]
}
