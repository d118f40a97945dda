import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { decodeAs } from '../../../db/select.ts'
import { endedStatuses, keptDays } from '../../../domain/data-imports/data-imports.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import { importFields, type ImportRow } from '../background/steps.ts'
import { forgetCopy, forgetOriginal } from './files.ts'

/** Imports that one sweep looks at, rows that one transaction deletes, and transactions of one sweep. */
const importsASweep = 20
const rowsAStep = 2000
const stepsASweep = 20

/** The exact expression of the partial index, so that SQLite uses it. */
const ended = sql.raw(`rows_deleted_at is null and file_id is not null
  and status in (${endedStatuses.map((status) => `'${status}'`).join(', ')})`)

/** Imports whose time is over. Until then a failed import may begin again; imports that can be undone are kept. */
const findDue = ({ db, now }: JobCtx) =>
  db.all(
    decodeAs(
      importFields,
      sql<ImportRow>`select * from data_imports indexed by data_imports_ended
        where ${ended} and modified_at <= ${now() - keptDays * dayMs} and phase is null
          and coalesce(undo_until, 0) <= ${now()}
        order by modified_at limit ${importsASweep}`,
    ),
  )

const deletePart = (table: 'import_rows' | 'import_orders', key: string, id: string): Statement =>
  sql`delete from ${sql.raw(table)} where import_id = ${id} and (${sql.raw(key)}) in
    (select ${sql.raw(key)} from ${sql.raw(table)} where import_id = ${id} order by ${sql.raw(key)} limit ${rowsAStep})`

/** Deletes rows and orders of an import, a part at a time; false where some are left. */
async function deleteRows(job: JobCtx, { id }: ImportRow, budget: { steps: number }): Promise<boolean> {
  while (budget.steps > 0) {
    const left = await job.db.first(
      sql`select 1 where exists (select 1 from import_rows where import_id = ${id})
        or exists (select 1 from import_orders where import_id = ${id})`,
    )
    if (!left) return true
    budget.steps--
    await job.db.batch([deletePart('import_rows', 'row_number', id), deletePart('import_orders', 'number', id)])
  }
  return false
}

/** Deletes files and rows of imports that ended long ago, a limited number for each sweep. It may be repeated. */
export async function sweepImportData(job: JobCtx): Promise<void> {
  const budget = { steps: stepsASweep }
  for (const row of await findDue(job)) {
    if (row.files_deleted_at === null)
      await job.db.batch([...(await forgetCopy(job, row.id)), ...(await forgetOriginal(job, row.file_id))])
    if (!(await deleteRows(job, row, budget))) return
    await job.db.batch([
      sql`delete from import_previews where import_id = ${row.id}`,
      sql`update data_imports set rows_deleted_at = ${job.now()}, version = version + 1
        where id = ${row.id} and phase is null`,
    ])
  }
}
