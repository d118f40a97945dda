import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { findSweepPosition, storeSweepPosition } from '../../db/sweeps.ts'
import { firstIdAt } from '../../domain/ids.ts'

const sweepName = 'audit-log'
const organizationsASweep = 50
const entriesABatch = 500
const batchesASweep = 2

type SweepCtx = Pick<JobCtx, 'db' | 'now' | 'config'>

/** The next organisations with entries, from this one on. Each is found by its first entry. */
async function nextOrganizations({ db }: Pick<SweepCtx, 'db'>, from: string, most: number): Promise<string[]> {
  const rows = await db.all(sql<{ id: string }>`with recursive organization (id, number) as (
      select (select min(organization_id) from audit_log where organization_id >= ${from}), 1
      union all
      select (select min(organization_id) from audit_log where organization_id > organization.id), number + 1
        from organization where id is not null and number < ${most})
    select id from organization where id is not null`)
  return rows.map(({ id }) => id)
}

/** Deletes expired entries of these organisations; false when more may be left. */
async function deleteOld({ db, now, config }: SweepCtx, organizations: readonly string[]): Promise<boolean> {
  for (let batch = 0; batch < batchesASweep; batch++) {
    const old = await db.all(sql<{ organization_id: string; id: string }>`select entry.organization_id, entry.id
      from json_each(${JSON.stringify(organizations)}) as organization
        cross join audit_log as entry on entry.organization_id = organization.value
          and entry.id < ${firstIdAt('audit_entry', now() - config.retentionMs.auditLog)}
      limit ${entriesABatch}`)
    const areOld = sql`(organization_id, id) in (select value ->> 'organization_id', value ->> 'id'
      from json_each(${JSON.stringify(old)}))`
    if (old.length > 0) await db.batch([sql`delete from audit_log where ${areOld}`])
    if (old.length < entriesABatch) return true
  }
  return false
}

/**
 * Deletes entries that are too old: some of the next organisations. A sweep goes on where the one before ended, so that
 * what it reads does not grow with the number of organisations.
 */
export async function sweepAuditLog(job: SweepCtx): Promise<void> {
  const from = (await findSweepPosition(job.db, sweepName))?.after ?? ''
  const found = await nextOrganizations(job, from, organizationsASweep + 1)
  const next = found[organizationsASweep] ?? ''
  if (!(await deleteOld(job, found.slice(0, organizationsASweep))) || next === from) return
  await job.db.batch([storeSweepPosition(sweepName, { after: next, begun_at: job.now() })])
}
