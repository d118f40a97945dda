import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/search.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { selectAccessKey } from '../../db/images.ts'
import { inList } from '../../db/conditions.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { accounts, members } from '../../db/schema/accounts.ts'
import { events } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { type RowOf, select } from '../../db/select.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { OrderBy, Page, PageRequest } from '../../domain/page.ts'
import type { EventFilters, MemberQuery, OrganizationFilters } from './contract.ts'

const { erasure_key: _key, ...shownColumns } = getTableColumns(organizations)

const organizationColumns = {
  ...shownColumns,
  /** The access key of the avatar; null without an avatar. */
  avatar_key: sql<string | null>`${selectAccessKey(sql`${organizations.avatar_file_id}`)}`,
}
const eventColumns = getTableColumns(events)
const memberColumns = { ...getTableColumns(members), email: accounts.email }

export type OrganizationRow = RowOf<typeof organizationColumns>
export type EventRow = RowOf<typeof eventColumns>
export type MemberRow = RowOf<typeof memberColumns>

/** Roles in an edition also see the organisation of the edition. */
const buildOrganizationVisibility = (organization: SQL) => ({
  inOrganizations: (ids: readonly string[]) => inList(organization, ids),
  inEditions: (ids: readonly string[]) =>
    sql`${organization} in (select organization_id from editions where ${inList(sql`id`, ids)})`,
})

const organizationVisibility = buildOrganizationVisibility(sql`${organizations.id}`)

const eventVisibility = {
  inOrganizations: (ids: readonly string[]) => inList(sql`${events.organization_id}`, ids),
  inEditions: (ids: readonly string[]) =>
    sql`${events.id} in (select event_id from editions where ${inList(sql`id`, ids)})`,
}

export function listOrganizations(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<'created' | 'modified' | 'name'>[],
  { search: text }: OrganizationFilters,
): Promise<Page<OrganizationRow>> {
  const { id, name_key, search, created_at, modified_at } = organizations
  return paginate(ctx.db, page, {
    from: sql`${organizations}`,
    id: sql`${id}`,
    where: [isVisibleTo(ctx.caller, organizationVisibility), ...(text ? [containsFolded(sql`${search}`, text)] : [])],
    orderBy: buildOrderBy(ordering, '-created', {
      created: sql`${created_at}`,
      modified: sql`${modified_at}`,
      name: sql`${name_key}`,
    }),
    columns: organizationColumns,
    joins: sql`join ${organizations} on ${id} = page.id`,
  })
}

export async function findOrganization(ctx: Ctx, id: string): Promise<OrganizationRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(organizationColumns)
      .from(organizations)
      .where(and(eq(organizations.id, id), isVisibleTo(ctx.caller, organizationVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.id, editions: 'any' } }
}

export function listMembers(
  ctx: Ctx,
  organizationId: string,
  page: PageRequest,
  query: MemberQuery,
): Promise<Page<MemberRow>> {
  const { ordering, role, edition_id } = query
  return paginate(ctx.db, page, {
    from: sql`${members}`,
    id: sql`${members.id}`,
    where: [
      eq(members.organization_id, organizationId),
      ...(role ? [eq(members.role, role)] : []),
      ...(edition_id ? [eq(members.edition_id, edition_id)] : []),
    ],
    orderBy: buildOrderBy(ordering, 'created', { created: sql`${members.created_at}`, role: sql`${members.role}` }),
    columns: memberColumns,
    joins: sql`join ${members} on ${members.id} = page.id join ${accounts} on ${accounts.id} = ${members.account_id}`,
  })
}

/** Only organisation roles see members. */
export async function findMember(
  ctx: Ctx,
  organizationId: string,
  id: string,
): Promise<MemberRow & { tenant: Tenant }> {
  const visibility = buildVisibility(sql`${members.organization_id}`, sql`null`)
  const row = await ctx.db.first(
    select(memberColumns)
      .from(members)
      .innerJoin(accounts, eq(accounts.id, members.account_id))
      .where(and(eq(members.id, id), eq(members.organization_id, organizationId), isVisibleTo(ctx.caller, visibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}

export function listEvents(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<'created' | 'name'>[],
  filters: EventFilters,
): Promise<Page<EventRow>> {
  const { id, name_key, created_at } = events
  const { organization_id, search } = filters
  return paginate(ctx.db, page, {
    from: sql`${events}`,
    id: sql`${id}`,
    where: [
      isVisibleTo(ctx.caller, eventVisibility),
      ...(organization_id ? [eq(events.organization_id, organization_id)] : []),
      ...(search ? [containsFolded(sql`${events.search}`, search)] : []),
    ],
    orderBy: buildOrderBy(ordering, '-created', { created: sql`${created_at}`, name: sql`${name_key}` }),
    columns: eventColumns,
    joins: sql`join ${events} on ${id} = page.id`,
  })
}
