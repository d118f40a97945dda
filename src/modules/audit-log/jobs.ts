import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { auditKeptMs } from '../../domain/audit.ts'
import { firstIdAt } from '../../domain/ids.ts'

const rowsASweep = 1000

/** Deletes some of the entries that are too old. Each organisation is found by its first entry, and that is its oldest. */
export const sweepAuditLog = ({ db, now }: Pick<JobCtx, 'db' | 'now'>, limit = rowsASweep): Promise<unknown> =>
  db.all(sql`with recursive organization (id) as (
      select min(organization_id) from audit_log
      union all
      select (select min(organization_id) from audit_log where organization_id > organization.id)
        from organization where id is not null)
    delete from audit_log where (organization_id, id) in (
      select entry.organization_id, entry.id from organization cross join audit_log as entry
        on entry.organization_id = organization.id and entry.id < ${firstIdAt('audit_entry', now() - auditKeptMs)}
      limit ${limit})`)
