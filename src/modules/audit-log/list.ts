import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable, isBefore, isFrom } from '../../db/filters.ts'
import { buildOrderBy, maxIndexedOffset, paginate } from '../../db/paginate.ts'
import { accounts, members } from '../../db/schema/accounts.ts'
import { auditLog } from '../../db/schema/audit-log.ts'
import type { RowOf } from '../../db/select.ts'
import { buildVisibility, isVisibleIn } from '../../db/visibility.ts'
import { invalid, parameterError } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { AuditQuery } from './contract.ts'

const entry = getTableColumns(auditLog)

/** The actor may have no account, or may have left the organisation. */
const columns = {
  ...entry,
  email: sql<string | null>`${accounts.email}`,
  member_id: sql<string | null>`${members.id}`,
  first_name: sql<string | null>`${members.first_name}`,
  last_name: sql<string | null>`${members.last_name}`,
}

export type AuditRow = RowOf<typeof columns>

const visibility = buildVisibility(sql`${entry.organization_id}`, sql`null`)

const filters: FilterTable<Omit<AuditQuery, 'organization_id'>> = {
  actor_id: equals(entry.actor_id),
  action: equals(entry.action),
  resource_type: equals(entry.resource_type),
  resource_id: equals(entry.resource_id),
  created_after: isFrom(entry.created_at),
  created_before: isBefore(entry.created_at),
}

/** One page of the entries of an organisation, newest first. Only the superuser sees entries without an organisation. */
export async function listAuditLog(ctx: Ctx, page: PageRequest, query: AuditQuery): Promise<Page<AuditRow>> {
  const { organization_id, ordering } = query
  if (organization_id === undefined && !ctx.caller.is_superuser)
    throw invalid(parameterError('organization_id', 'required', 'This parameter is required.'))
  const organizationId = organization_id ?? ''
  return paginate(ctx.db, page, {
    from: sql`audit_log indexed by audit_log_by_time`,
    where: [
      eq(entry.organization_id, organizationId),
      isVisibleIn(ctx.caller, visibility, { organization_id }),
      ...buildConditions(filters, query),
    ],
    orderBy: buildOrderBy(ordering, '-created', { created: sql`${entry.created_at}` }),
    id: sql`${entry.id}`,
    columns,
    joins: sql`
      join audit_log on audit_log.organization_id = ${organizationId} and audit_log.id = page.id
      left join accounts on accounts.id = audit_log.actor_id
      left join members on members.id = (select min(id) from members as membership
        where membership.account_id = audit_log.actor_id and membership.organization_id = ${organizationId})`,
    maxOffset: maxIndexedOffset,
  })
}
