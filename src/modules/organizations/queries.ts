import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/contains.ts'
import { paginate } from '../../db/paginate.ts'
import type { events, members, organizations } from '../../db/schema/organizations.ts'
import { keyOfFile } from '../../db/images.ts'
import { inList, visibilityOf, visible } from '../../db/visibility.ts'
import type { MemberRole, Tenant } from '../../domain/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type OrderBy, type Page, type PageRequest, sortBy } from '../../domain/page.ts'

/** `avatar_key` opens the file that `avatar_file_id` names; null without one. */
export type OrganizationRow = typeof organizations.$inferSelect & { avatar_key: string | null }
export type EventRow = typeof events.$inferSelect
export type MemberRow = typeof members.$inferSelect & { email: string }

/** An organisation is seen by all its roles, those of its editions too. */
const organizationVisibility = (organization: SQL) => ({
  inOrganizations: (ids: readonly string[]) => inList(organization, ids),
  inEditions: (ids: readonly string[]) =>
    sql`${organization} in (select organization_id from editions where ${inList(sql`id`, ids)})`,
})

const columns = sql`organizations.*, ${keyOfFile(sql`organizations.avatar_file_id`)} as avatar_key`

const eventVisibility = {
  inOrganizations: (ids: readonly string[]) => inList(sql`events.organization_id`, ids),
  inEditions: (ids: readonly string[]) =>
    sql`events.id in (select event_id from editions where ${inList(sql`id`, ids)})`,
}

export function listOrganizations(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<'created' | 'modified' | 'name'>[],
  filters: { search?: string | undefined },
): Promise<Page<OrganizationRow>> {
  return paginate<OrganizationRow>(ctx.db, page, {
    from: sql`organizations`,
    key: sql`id`,
    where: [
      visible(ctx.caller, organizationVisibility(sql`organizations.id`)),
      ...(filters.search ? [containsFolded(sql`search`, filters.search)] : []),
    ],
    sort: sortBy(ordering, '-created', { created: sql`created_at`, modified: sql`modified_at`, name: sql`name` }),
    columns,
    joins: sql`join organizations on organizations.id = page.key`,
  })
}

export async function findOrganization(ctx: Ctx, id: string): Promise<OrganizationRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    sql<OrganizationRow>`select ${columns} from organizations
      where id = ${id} and ${visible(ctx.caller, organizationVisibility(sql`organizations.id`))}`,
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.id, editions: 'any' } }
}

interface MemberQuery {
  ordering: readonly OrderBy<'created' | 'role'>[]
  role?: MemberRole | undefined
  edition_id?: string | undefined
}

export function listMembers(
  ctx: Ctx,
  organizationId: string,
  page: PageRequest,
  query: MemberQuery,
): Promise<Page<MemberRow>> {
  return paginate<MemberRow>(ctx.db, page, {
    from: sql`members`,
    key: sql`id`,
    where: [
      sql`organization_id = ${organizationId}`,
      ...(query.role ? [sql`role = ${query.role}`] : []),
      ...(query.edition_id ? [sql`edition_id = ${query.edition_id}`] : []),
    ],
    sort: sortBy(query.ordering, 'created', { created: sql`created_at`, role: sql`role` }),
    columns: sql`members.*, accounts.email`,
    joins: sql`join members on members.id = page.key join accounts on accounts.id = members.account_id`,
  })
}

/** A member of an organisation in which the caller has a role of the organisation. */
export async function findMember(
  ctx: Ctx,
  organizationId: string,
  id: string,
): Promise<MemberRow & { tenant: Tenant }> {
  const row = await ctx.db.first(sql<MemberRow>`select members.*, accounts.email
    from members join accounts on accounts.id = members.account_id
    where members.id = ${id} and members.organization_id = ${organizationId}
      and ${visible(ctx.caller, visibilityOf(sql`members.organization_id`, sql`null`))}`)
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}

export function listEvents(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<'created' | 'name'>[],
  filters: { organization_id?: string | undefined; search?: string | undefined },
): Promise<Page<EventRow>> {
  return paginate<EventRow>(ctx.db, page, {
    from: sql`events`,
    key: sql`id`,
    where: [
      visible(ctx.caller, eventVisibility),
      ...(filters.organization_id ? [sql`organization_id = ${filters.organization_id}`] : []),
      ...(filters.search ? [containsFolded(sql`search`, filters.search)] : []),
    ],
    sort: sortBy(ordering, '-created', { created: sql`created_at`, name: sql`name` }),
    columns: sql`events.*`,
    joins: sql`join events on events.id = page.key`,
  })
}
