import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { findSweepPosition, storeSweepPosition } from '../../db/sweeps.ts'
import { parseStorageKey } from '../../domain/files/addresses.ts'
import { orphanedAfterMs } from '../../domain/files/files.ts'
import { dayMs } from '../../domain/time/instants.ts'
import { isHeld } from '../../domain/waiting.ts'

const objectsPerStep = 500

/** A text that sorts after every key with the prefix. */
const buildPrefixEnd = (prefix: string): string => `${prefix}\uffff`

/**
 * Deletes old objects without a row, whose request died between the store and the database. While everything that goes out
 * is held, it keeps them: the database may have been restored, and a restore can be undone.
 */
async function deleteOrphans(job: JobCtx, objects: readonly { key: string; uploaded_at: number }[]): Promise<void> {
  if (isHeld(job.config)) return
  const oldObjects = objects.filter(({ uploaded_at }) => uploaded_at < job.now() - orphanedAfterMs)
  if (oldObjects.length === 0) return
  const storageKeys = [...new Set(oldObjects.map(({ key }) => parseStorageKey(key)))]
  const rows = await job.db.all(
    sql<{ storage_key: string }>`select storage_key from stored_objects where ${inList(sql`storage_key`, storageKeys)}
      union all select storage_key from file_uploads where ${inList(sql`storage_key`, storageKeys)}`,
  )
  const knownKeys = new Set(rows.map(({ storage_key }) => storage_key))
  await job.files.delete(oldObjects.filter(({ key }) => !knownKeys.has(parseStorageKey(key))).map(({ key }) => key))
}

/** Marks rows whose bytes the store has lost, and returns their number. Uploading the same bytes again restores them. */
async function markMissing(
  { db, now }: JobCtx,
  from: string,
  to: string,
  storedKeys: readonly string[],
): Promise<number> {
  const lostRows = await db.all(
    sql<{ storage_key: string }>`update stored_objects set is_missing = 1
      where storage_key > ${from} and storage_key <= ${to} and is_missing = 0
        and created_at < ${now() - orphanedAfterMs} and not ${inList(sql`storage_key`, storedKeys)} returning storage_key`,
  )
  return lostRows.length
}

/** Compares the next objects with their rows. Returns the key after which to go on, or null at the end. */
async function compareStep(job: JobCtx, prefix: string, after: string): Promise<string | null> {
  const objects = await job.files.list({ prefix, after, limit: objectsPerStep })
  const next = objects.length < objectsPerStep ? null : (objects.at(-1)?.key ?? null)
  await deleteOrphans(job, objects)
  const keys = objects.map(({ key }) => key)
  const lostCount =
    prefix === 'objects/' ? await markMissing(job, after || prefix, next ?? buildPrefixEnd(prefix), keys) : 0
  if (lostCount > 0)
    console.error(JSON.stringify({ level: 'error', message: `${lostCount} stored objects have lost their bytes.` }))
  return next
}

/** Compares a part of the store with the database, and starts again once a day. */
export async function compareStorage(job: JobCtx): Promise<void> {
  for (const prefix of ['objects/', 'derived/']) {
    const now = job.now()
    const position = await findSweepPosition(job.db, prefix)
    const isRunning = position !== null && position.after !== ''
    if (position && !isRunning && position.begun_at > now - dayMs) continue
    const { after, begun_at } = isRunning ? position : { after: '', begun_at: now }
    const next = (await compareStep(job, prefix, after)) ?? ''
    await job.db.batch([storeSweepPosition(prefix, { after: next, begun_at })])
  }
}
