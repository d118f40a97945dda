import { or, type SQL, sql } from 'drizzle-orm'
import { type Caller, type Reach, getReach, type RoleCode } from '../domain/accounts/access.ts'
import { inList } from './conditions.ts'
import { editions } from './schema/editions.ts'

/** The conditions for the rows of a table that belong to some organisations, and to some editions. */
export interface Visibility {
  inOrganizations: (ids: readonly string[]) => SQL
  inEditions: (ids: readonly string[]) => SQL
}

export const buildVisibility = (organization: SQL, edition: SQL): Visibility => ({
  inOrganizations: (ids) => inList(organization, ids),
  inEditions: (ids) => inList(edition, ids),
})

/** The visibility of rows that have an edition but no organisation of their own. */
export const buildVisibilityByEdition = (edition: SQL): Visibility => ({
  inOrganizations: (ids) => inList(sql`(select organization_id from editions where editions.id = ${edition})`, ids),
  inEditions: (ids) => inList(edition, ids),
})

export const editionVisibility = buildVisibility(sql`${editions.organization_id}`, sql`${editions.id}`)

/**
 * The reach of the caller with the roles of the operation. While the resource in the path is loaded, `acting_roles` is
 * not set and every role counts: a caller who may only read it then gets a 403 that names the required role, not a 404.
 */
export const getActingReach = (caller: Caller, roles = caller.acting_roles): Reach => getReach(caller, roles)

/** True for rows that the caller reaches with the operation's roles, or with `roles`. Every read of the API uses it. */
export function isVisibleTo(caller: Caller, table: Visibility, roles?: readonly RoleCode[]): SQL {
  const reach = getActingReach(caller, roles)
  return reach.all ? sql`1` : buildReachCondition(reach, table)
}

function buildReachCondition(reach: Extract<Reach, { all: false }>, table: Visibility): SQL {
  const editionIds = reach.editions.flatMap((grant) => grant.edition_id ?? [])
  const conditions = [
    ...(reach.organizations.length ? [table.inOrganizations(reach.organizations)] : []),
    ...(editionIds.length ? [table.inEditions(editionIds)] : []),
  ]
  return or(...conditions) ?? sql`0`
}

/** True if the operation's roles reach every row of the organisation. */
export function seesOrganization(caller: Caller, id: string): boolean {
  const reach = getActingReach(caller)
  return reach.all || reach.organizations.includes(id)
}

interface TenantFilters {
  organization_id?: string | undefined
  edition_id?: string | undefined
}

/** The ids of organisations in which the caller reaches anything. Null: all organisations. */
export function listReachedOrganizations(caller: Caller): string[] | null {
  const reach = getActingReach(caller)
  if (reach.all) return null
  return [...new Set([...reach.organizations, ...reach.editions.map((grant) => grant.organization_id)])]
}

/**
 * Adds the organisation to the filters of a list when the caller reaches no other one, so that the list can use an index
 * that begins with the organisation.
 */
export function addOnlyOrganization<Filters extends TenantFilters>(caller: Caller, filters: Filters): Filters {
  const [onlyId, ...others] = listReachedOrganizations(caller) ?? []
  if (filters.organization_id !== undefined || filters.edition_id !== undefined || others.length > 0) return filters
  return onlyId === undefined ? filters : { ...filters, organization_id: onlyId }
}

/**
 * `isVisibleTo` for a list that is filtered by an organisation or an edition. If the caller reaches all of it, the
 * condition is 1 and reads no column, so an index alone can find and count the rows.
 */
export function isVisibleIn(caller: Caller, table: Visibility, filters: TenantFilters): SQL {
  const reach = getActingReach(caller)
  if (reach.all) return sql`1`
  const { organization_id, edition_id } = filters
  if (organization_id !== undefined && seesOrganization(caller, organization_id)) return sql`1`
  if (edition_id === undefined) return buildReachCondition(reach, table)
  if (reach.editions.some((grant) => grant.edition_id === edition_id)) return sql`1`
  return sql`exists (select 1 from editions where editions.id = ${edition_id}
    and ${inList(sql`editions.organization_id`, reach.organizations)})`
}
