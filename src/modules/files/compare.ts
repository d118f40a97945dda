import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/visibility.ts'
import { parseStorageKey } from '../../domain/files/addresses.ts'
import { unclaimedAfterMs } from '../../domain/files/files.ts'
import { dayMs } from '../../domain/time/instants.ts'

const objectsAStep = 500

interface SweepRow {
  after_key: string
  begun_at: number
}

/** Sorts after every key of a prefix. */
const endOf = (prefix: string): string => `${prefix}\uffff`

/** Deletes old objects without a row: their request died between the store and the database. */
async function removeUnknown(job: JobCtx, listed: readonly { key: string; uploaded_at: number }[]): Promise<void> {
  const old = listed.filter(({ uploaded_at }) => uploaded_at < job.now() - unclaimedAfterMs)
  if (old.length === 0) return
  const bases = [...new Set(old.map(({ key }) => parseStorageKey(key)))]
  const known = await job.db.all(
    sql<{ storage_key: string }>`select storage_key from stored_objects where ${inList(sql`storage_key`, bases)}
      union all select storage_key from file_uploads where ${inList(sql`storage_key`, bases)}`,
  )
  const keys = new Set(known.map(({ storage_key }) => storage_key))
  await job.files.delete(old.filter(({ key }) => !keys.has(parseStorageKey(key))).map(({ key }) => key))
}

/** Marks rows whose bytes the store does not have. The next upload of the same bytes restores them. */
async function markMissing({ db, now }: JobCtx, from: string, to: string, present: readonly string[]): Promise<number> {
  const lost = await db.all(
    sql<{ storage_key: string }>`update stored_objects set is_missing = 1
      where storage_key > ${from} and storage_key <= ${to} and is_missing = 0
        and created_at < ${now() - unclaimedAfterMs} and not ${inList(sql`storage_key`, present)} returning storage_key`,
  )
  return lost.length
}

/** Returns the key to go on from; null at the end. */
async function step(job: JobCtx, prefix: string, after: string): Promise<string | null> {
  const listed = await job.files.list({ prefix, after, limit: objectsAStep })
  const next = listed.length < objectsAStep ? null : (listed.at(-1)?.key ?? null)
  await removeUnknown(job, listed)
  const keys = listed.map(({ key }) => key)
  const lost = prefix === 'objects/' ? await markMissing(job, after || prefix, next ?? endOf(prefix), keys) : 0
  if (lost > 0)
    console.error(JSON.stringify({ level: 'error', message: `${lost} stored objects have lost their bytes.` }))
  return next
}

/** Compares a share of the store with the database, and begins anew once a day. */
export async function compareStorage(job: JobCtx): Promise<void> {
  for (const prefix of ['objects/', 'derived/']) {
    const now = job.now()
    const row = await job.db.first(sql<SweepRow>`select after_key, begun_at from storage_sweeps where name = ${prefix}`)
    const isUnderWay = row !== undefined && row.after_key !== ''
    if (row && !isUnderWay && row.begun_at > now - dayMs) continue
    const { after_key: after, begun_at } = isUnderWay ? row : { after_key: '', begun_at: now }
    const next = (await step(job, prefix, after)) ?? ''
    await job.db.batch([
      sql`insert into storage_sweeps (name, after_key, begun_at) values (${prefix}, ${next}, ${begun_at})
        on conflict (name) do update set after_key = excluded.after_key, begun_at = excluded.begun_at`,
    ])
  }
}
