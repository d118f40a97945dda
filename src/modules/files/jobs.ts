import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { buildDerivedPrefix } from '../../domain/files/addresses.ts'

export { compareStorage } from './compare.ts'
export { sweepUnusedImports } from './expire-imports.ts'
export { sweepUploads } from './uploads/uploads.ts'
export { sweepScans } from './scanning/scan.ts'

const objectsPerSweep = 100
/** An object has far fewer variants. */
const maxVariants = 100

interface DueObject {
  storage_key: string
  store_upload_id: string | null
}

/** The keys of an object and its variants. Aborts an unfinished upload first. */
async function listKeys({ files }: JobCtx, { storage_key, store_upload_id }: DueObject): Promise<string[]> {
  if (store_upload_id !== null) await files.abortParts({ key: storage_key, uploadId: store_upload_id })
  const variants = await files.list({ prefix: buildDerivedPrefix(storage_key), after: '', limit: maxVariants })
  return [storage_key, ...variants.map(({ key }) => key)]
}

/** Deletes objects that are marked for deletion. It can be repeated after a crash. */
export async function sweepObjects(job: JobCtx): Promise<void> {
  const objects = await job.db.all(
    sql<DueObject>`select storage_key, store_upload_id from objects_to_delete order by storage_key limit ${objectsPerSweep}`,
  )
  if (objects.length === 0) return
  await job.files.delete((await Promise.all(objects.map((object) => listKeys(job, object)))).flat())
  const keys = objects.map(({ storage_key }) => storage_key)
  await job.db.batch([sql`delete from objects_to_delete where ${inList(sql`storage_key`, keys)}`])
}
