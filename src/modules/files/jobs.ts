import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/visibility.ts'
import { derivedPrefix } from './storage.ts'

export { compareStorage } from './compare.ts'
export { sweepUploads } from './expire-uploads.ts'

/** Objects of one sweep: the rest waits for the next minute. */
const objectsASweep = 100
/** Smaller images and the like of one object. */
const mostDerived = 100

interface DueObject {
  storage_key: string
  store_upload_id: string | null
}

async function removeOne({ files }: JobCtx, { storage_key, store_upload_id }: DueObject): Promise<void> {
  if (store_upload_id !== null) await files.abortParts({ key: storage_key, uploadId: store_upload_id })
  const derived = await files.list({ prefix: derivedPrefix(storage_key), after: '', limit: mostDerived })
  await files.delete([storage_key, ...derived.map(({ key }) => key)])
}

async function removeAll(job: JobCtx, due: readonly DueObject[]): Promise<void> {
  for (const object of due) await removeOne(job, object)
  const keys = due.map(({ storage_key }) => storage_key)
  if (keys.length) await job.db.batch([sql`delete from objects_to_delete where ${inList(sql`storage_key`, keys)}`])
}

/** Removes those of the objects that no row refers to any more. */
export async function removeObjects(job: JobCtx, storageKeys: readonly string[]): Promise<void> {
  const due = await job.db.all(
    sql<DueObject>`select storage_key, store_upload_id from objects_to_delete where ${inList(sql`storage_key`, storageKeys)}`,
  )
  await removeAll(job, due)
}

/** Removes what rows have let go. Removing it twice is no harm. */
export async function sweepObjects(job: JobCtx): Promise<void> {
  const due = await job.db.all(
    sql<DueObject>`select storage_key, store_upload_id from objects_to_delete order by storage_key limit ${objectsASweep}`,
  )
  await removeAll(job, due)
}
