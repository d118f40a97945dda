import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { selectAccessKey } from '../../db/images.ts'
import { accounts, members } from '../../db/schema/accounts.ts'
import { events } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { type RowOf, select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'

const { erasure_key: _key, ...shownColumns } = getTableColumns(organizations)

export const organizationColumns = {
  ...shownColumns,
  /** The access key of the avatar; null without an avatar. */
  avatar_key: sql<string | null>`${selectAccessKey(sql`${organizations.avatar_file_id}`)}`,
}
export const eventColumns = getTableColumns(events)
export const memberColumns = { ...getTableColumns(members), email: accounts.email }

export type OrganizationRow = RowOf<typeof organizationColumns>
export type LoadedOrganization = OrganizationRow & { tenant: Tenant }
export type EventRow = RowOf<typeof eventColumns>
export type MemberRow = RowOf<typeof memberColumns>

/** Roles in an edition also see the organisation of the edition. */
const buildOrganizationVisibility = (organization: SQL) => ({
  inOrganizations: (ids: readonly string[]) => inList(organization, ids),
  inEditions: (ids: readonly string[]) =>
    sql`${organization} in (select organization_id from editions where ${inList(sql`id`, ids)})`,
})

export const organizationVisibility = buildOrganizationVisibility(sql`${organizations.id}`)

export const eventVisibility = {
  inOrganizations: (ids: readonly string[]) => inList(sql`${events.organization_id}`, ids),
  inEditions: (ids: readonly string[]) =>
    sql`${events.id} in (select event_id from editions where ${inList(sql`id`, ids)})`,
}

export async function findOrganization(ctx: Ctx, id: string): Promise<LoadedOrganization> {
  const row = await ctx.db.first(
    select(organizationColumns)
      .from(organizations)
      .where(and(eq(organizations.id, id), isVisibleTo(ctx.caller, organizationVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.id, editions: 'any' } }
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

/** Roles of an edition see the event of their edition. */
export async function findEvent(ctx: Ctx, id: string): Promise<EventRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(eventColumns)
      .from(events)
      .where(and(eq(events.id, id), isVisibleTo(ctx.caller, eventVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: 'any' } }
}
