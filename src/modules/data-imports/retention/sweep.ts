import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { decodeAs } from '../../../db/select.ts'
import { endedStatuses, importRetentionDays } from '../../../domain/data-imports/data-imports.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import { importFields, type ImportRow } from '../background/steps.ts'
import { deleteCopy, deleteOriginal } from './files.ts'

const importsPerSweep = 20
const rowsPerStep = 2000
const stepsPerSweep = 20

/** Repeats the condition of the partial index literally, so that SQLite uses it. */
const hasEnded = sql.raw(`rows_deleted_at is null and file_id is not null
  and status in (${endedStatuses.map((status) => `'${status}'`).join(', ')})`)

/** Finds imports whose retention is over. A failed import may continue and an undo may start until then. */
const findDue = ({ db, now }: JobCtx) =>
  db.all(
    decodeAs(
      importFields,
      sql<ImportRow>`select * from data_imports indexed by data_imports_ended
        where ${hasEnded} and modified_at <= ${now() - importRetentionDays * dayMs} and phase is null
          and coalesce(undo_until, 0) <= ${now()}
        order by modified_at limit ${importsPerSweep}`,
    ),
  )

const deletePart = (table: 'import_rows' | 'import_orders', key: string, id: string): Statement =>
  sql`delete from ${sql.raw(table)} where import_id = ${id} and (${sql.raw(key)}) in
    (select ${sql.raw(key)} from ${sql.raw(table)} where import_id = ${id} order by ${sql.raw(key)} limit ${rowsPerStep})`

/** Deletes rows and orders of an import. Returns false when some are left because the budget is used up. */
async function deleteRows(job: JobCtx, { id }: ImportRow, budget: { steps: number }): Promise<boolean> {
  while (budget.steps > 0) {
    const remainingImport = await job.db.first(
      sql`select 1 where exists (select 1 from import_rows where import_id = ${id})
        or exists (select 1 from import_orders where import_id = ${id})`,
    )
    if (!remainingImport) return true
    budget.steps--
    await job.db.batch([deletePart('import_rows', 'row_number', id), deletePart('import_orders', 'number', id)])
  }
  return false
}

const callsPerStep = 100

/** Deletes the undo data of calls. Returns false when there are none left. */
async function sweepCalls({ db, now }: JobCtx): Promise<boolean> {
  const dueCalls = await db.all(
    sql<{ id: string }>`select id from data_imports indexed by data_imports_calls_to_sweep
      where source = 'api' and undo_until is not null and rows_deleted_at is null and phase is null
        and undo_until <= ${now()} and modified_at <= ${now() - importRetentionDays * dayMs}
      order by modified_at limit ${callsPerStep}`,
  )
  if (dueCalls.length === 0) return false
  const ids = JSON.stringify(dueCalls.map(({ id }) => id))
  await db.batch([
    sql`delete from import_orders where import_id in (select value from json_each(${ids}))`,
    sql`update data_imports set rows_deleted_at = ${now()}, version = version + 1
      where id in (select value from json_each(${ids})) and phase is null`,
  ])
  return dueCalls.length === callsPerStep
}

export async function sweepImportData(job: JobCtx): Promise<void> {
  for (let step = 0; step < stepsPerSweep; step++) if (!(await sweepCalls(job))) break
  const budget = { steps: stepsPerSweep }
  for (const row of await findDue(job)) {
    if (row.files_deleted_at === null)
      await job.db.batch([...(await deleteCopy(job, row.id)), ...(await deleteOriginal(job, row.file_id))])
    if (!(await deleteRows(job, row, budget))) return
    await job.db.batch([
      sql`delete from import_previews where import_id = ${row.id}`,
      sql`update data_imports set rows_deleted_at = ${job.now()}, version = version + 1
        where id = ${row.id} and phase is null`,
    ])
  }
}
