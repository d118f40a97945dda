import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import type { auditLog } from '../../db/schema/audit-log.ts'
import { visibilityOf, visibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'

export interface AuditRow extends Omit<typeof auditLog.$inferSelect, 'created_at'> {
  created_at: number
  email: string | null
  member_id: string | null
  first_name: string | null
  last_name: string | null
}

interface AuditFilters {
  organization_id?: string | undefined
  actor_id?: string | undefined
  action?: string | undefined
  resource_type?: string | undefined
  resource_id?: string | undefined
  created_after?: number | undefined
  created_before?: number | undefined
}

const auditVisibility = visibilityOf(sql`audit_log.organization_id`, sql`null`)

function conditions(ctx: Ctx, filters: AuditFilters, organizationId: string): SQL[] {
  const { actor_id, action, resource_type, resource_id, created_after, created_before } = filters
  return [
    sql`audit_log.organization_id = ${organizationId}`,
    visibleIn(ctx.caller, auditVisibility, filters, ['OA']),
    ...(actor_id === undefined ? [] : [sql`actor_id = ${actor_id}`]),
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(resource_type === undefined ? [] : [sql`resource_type = ${resource_type}`]),
    ...(resource_id === undefined ? [] : [sql`resource_id = ${resource_id}`]),
    ...(created_after === undefined ? [] : [sql`audit_log.id >= ${firstIdAt('audit_entry', created_after)}`]),
    ...(created_before === undefined ? [] : [sql`audit_log.id < ${firstIdAt('audit_entry', created_before)}`]),
  ]
}

export async function listEntries(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<'created'>[],
  filters: AuditFilters,
): Promise<Page<AuditRow>> {
  if (filters.organization_id === undefined && !ctx.caller.is_superuser)
    throw invalid(parameterError('organization_id', 'required', 'The organisation whose log it is.'))
  const organizationId = filters.organization_id ?? ''
  return paginate<AuditRow>(ctx.db, page, {
    from: sql`audit_log`,
    key: sql`audit_log.id`,
    where: conditions(ctx, filters, organizationId),
    sort: sortBy(ordering, '-created', { created: sql`audit_log.id` }),
    columns: sql`audit_log.*, accounts.email, members.id as member_id, members.first_name, members.last_name`,
    joins: sql`join audit_log on audit_log.organization_id = ${organizationId} and audit_log.id = page.key
      left join accounts on accounts.id = audit_log.actor_id
      left join members on members.id = (select min(id) from members as own
        where own.account_id = audit_log.actor_id and own.organization_id = audit_log.organization_id)`,
  })
}
