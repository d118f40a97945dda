import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { commitPart, retryLostRaces } from '../../db/commit.ts'
import { findSweepPosition, storeSweepPosition } from '../../db/sweeps.ts'
import { unusedImportLifetimeMs } from '../../domain/files/files.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { deleteRow } from './delete.ts'
import type { StoredFile } from './queries.ts'
import { isUsed } from './references.ts'

const sweepName = 'unused-imports'
const filesPerSweep = 500
const deletionsPerSweep = 50

/** The `case` makes SQLite look up references only for import files. */
const isUnusedImport = sql`case when purpose = 'import' then not ${isUsed(sql`files.id`)} else 0 end`

/** Reads the file again at each attempt, because another request can use, change or delete it. */
const deleteUnused = (job: JobCtx, id: string): Promise<void> =>
  retryLostRaces(async () => {
    const row = await job.db.first(sql<Pick<StoredFile, 'id' | 'version' | 'organization_id' | 'storage_key'>>`
      select id, version, organization_id, storage_key from files where id = ${id} and ${isUnusedImport}`)
    if (row) await commitPart(job, deleteRow(row, job.now()))
  })

/** Deletes old import files that no import uses. Each sweep goes on after the last file of the one before. */
export async function sweepUnusedImports(job: JobCtx): Promise<void> {
  const now = job.now()
  const position = await findSweepPosition(job.db, sweepName)
  const files = await job.db.all(
    sql<{ id: string; is_unused: number }>`select id, ${isUnusedImport} as is_unused from files
      where id > ${position?.after ?? ''} and id < ${firstIdAt('file', now - unusedImportLifetimeMs)}
      order by id limit ${filesPerSweep}`,
  )
  const unusedIds = files.filter(({ is_unused }) => is_unused).map(({ id }) => id)
  for (const id of unusedIds.slice(0, deletionsPerSweep)) await deleteUnused(job, id)
  const lastId = unusedIds.length > deletionsPerSweep ? unusedIds[deletionsPerSweep - 1] : files.at(-1)?.id
  if (lastId === undefined) return
  // If the sweep dies before this, the next one repeats it.
  await job.db.batch([storeSweepPosition(sweepName, { after: lastId, begun_at: now })])
}
