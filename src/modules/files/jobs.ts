import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/visibility.ts'
import { buildDerivedPrefix } from '../../domain/files/addresses.ts'

export { compareStorage } from './compare.ts'
export { sweepUnusedImports } from './expire-imports.ts'
export { sweepUploads } from './uploads/uploads.ts'
export { sweepScans } from './scanning/scan.ts'

/** Objects of one sweep: the rest waits for the next minute. */
const objectsASweep = 100
/** Variants that one object may have. */
const mostDerived = 100

interface DueObject {
  storage_key: string
  store_upload_id: string | null
}

/** The keys of an object and of its variants. Parts of an unfinished upload are dropped first. */
async function keysOf({ files }: JobCtx, { storage_key, store_upload_id }: DueObject): Promise<string[]> {
  if (store_upload_id !== null) await files.abortParts({ key: storage_key, uploadId: store_upload_id })
  const derived = await files.list({ prefix: buildDerivedPrefix(storage_key), after: '', limit: mostDerived })
  return [storage_key, ...derived.map(({ key }) => key)]
}

/** Deletes the objects that rows list for deletion. May be repeated after a crash. */
export async function sweepObjects(job: JobCtx): Promise<void> {
  const due = await job.db.all(
    sql<DueObject>`select storage_key, store_upload_id from objects_to_delete order by storage_key limit ${objectsASweep}`,
  )
  if (due.length === 0) return
  await job.files.delete((await Promise.all(due.map((object) => keysOf(job, object)))).flat())
  const keys = due.map(({ storage_key }) => storage_key)
  await job.db.batch([sql`delete from objects_to_delete where ${inList(sql`storage_key`, keys)}`])
}
