import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { findSweepPosition, storeSweepPosition } from '../../db/sweeps.ts'
import { firstIdAt } from '../../domain/ids.ts'

const sweepName = 'audit-log'
const organizationsPerSweep = 50
const entriesPerBatch = 500
const batchesPerSweep = 2

type SweepCtx = Pick<JobCtx, 'db' | 'now' | 'config'>

/** The ids of the next organisations with entries, from `from` on. */
async function findOrganizations({ db }: Pick<SweepCtx, 'db'>, from: string, limit: number): Promise<string[]> {
  const rows = await db.all(sql<{ id: string }>`with recursive organization (id, number) as (
      select (select min(organization_id) from audit_log where organization_id >= ${from}), 1
      union all
      select (select min(organization_id) from audit_log where organization_id > organization.id), number + 1
        from organization where id is not null and number < ${limit})
    select id from organization where id is not null`)
  return rows.map(({ id }) => id)
}

/** Deletes expired entries of these organisations. Returns false if there may be more. */
async function deleteExpired({ db, now, config }: SweepCtx, organizations: readonly string[]): Promise<boolean> {
  for (let batch = 0; batch < batchesPerSweep; batch++) {
    const expiredEntries = await db.all(sql<{
      organization_id: string
      id: string
    }>`select entry.organization_id, entry.id
      from json_each(${JSON.stringify(organizations)}) as organization
        cross join audit_log as entry on entry.organization_id = organization.value
          and entry.id < ${firstIdAt('audit_entry', now() - config.retentionMs.auditLog)}
      limit ${entriesPerBatch}`)
    const isExpired = sql`(organization_id, id) in (select value ->> 'organization_id', value ->> 'id'
      from json_each(${JSON.stringify(expiredEntries)}))`
    if (expiredEntries.length > 0) await db.batch([sql`delete from audit_log where ${isExpired}`])
    if (expiredEntries.length < entriesPerBatch) return true
  }
  return false
}

/** Deletes expired entries of the next organisations, so that a sweep reads no more when there are more organisations. */
export async function sweepAuditLog(job: SweepCtx): Promise<void> {
  const from = (await findSweepPosition(job.db, sweepName))?.after ?? ''
  const ids = await findOrganizations(job, from, organizationsPerSweep + 1)
  const next = ids[organizationsPerSweep] ?? ''
  if (!(await deleteExpired(job, ids.slice(0, organizationsPerSweep))) || next === from) return
  await job.db.batch([storeSweepPosition(sweepName, { after: next, begun_at: job.now() })])
}
