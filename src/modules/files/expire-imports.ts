import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { commitPart, retryLostRaces } from '../../db/commit.ts'
import { unusedImportKeptMs } from '../../domain/files/files.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { deletion } from './delete.ts'
import type { StoredFile } from './queries.ts'
import { isUsed } from './references.ts'

/** Its row in `storage_sweeps` holds the last id that was looked at. */
const sweepName = 'unused-imports'
const filesASweep = 500
const deletionsASweep = 50

/** A CASE, so that references are looked up for files of imports alone. */
const isUnusedImport = sql`case when purpose = 'import' then not ${isUsed(sql`files.id`)} else 0 end`

/** Reads the file again before each try, because another request may use, change or delete it. */
const deleteUnused = (job: JobCtx, id: string): Promise<void> =>
  retryLostRaces(async () => {
    const row = await job.db.first(sql<Pick<StoredFile, 'id' | 'version' | 'organization_id' | 'storage_key'>>`
      select id, version, organization_id, storage_key from files where id = ${id} and ${isUnusedImport}`)
    if (row) await commitPart(job, deletion(row, job.now()))
  })

/**
 * Deletes files of the purpose `import` that are old enough and that no import refers to. Ids sort by time, so that each
 * sweep goes on where the one before ended and reads each file once; where it ended is written after the deletions.
 */
export async function sweepUnusedImports(job: JobCtx): Promise<void> {
  const now = job.now()
  const place = await job.db.first(
    sql<{ after_key: string }>`select after_key from storage_sweeps where name = ${sweepName}`,
  )
  const seen = await job.db.all(
    sql<{ id: string; is_due: number }>`select id, ${isUnusedImport} as is_due from files
      where id > ${place?.after_key ?? ''} and id < ${firstIdAt('file', now - unusedImportKeptMs)}
      order by id limit ${filesASweep}`,
  )
  const due = seen.filter(({ is_due }) => is_due).map(({ id }) => id)
  for (const id of due.slice(0, deletionsASweep)) await deleteUnused(job, id)
  const last = due.length > deletionsASweep ? due[deletionsASweep - 1] : seen.at(-1)?.id
  if (last === undefined) return
  await job.db.batch([
    sql`insert into storage_sweeps (name, after_key, begun_at) values (${sweepName}, ${last}, ${now})
      on conflict (name) do update set after_key = excluded.after_key, begun_at = excluded.begun_at`,
  ])
}
