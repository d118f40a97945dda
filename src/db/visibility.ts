import { type SQL, sql, eq } from 'drizzle-orm'
import { type Caller, type Reach, getReach, type RoleCode } from '../domain/accounts/access.ts'
import { editions } from './schema/editions.ts'
import { abortUnless } from './commit.ts'
import { files } from './schema/files/files.ts'

/** True if the column holds one of the values. The list is one bound value, however long it is. */
export const inList = (column: SQL, values: readonly (string | number)[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`

/**
 * True if the column holds one of these words, which come from code and never from a client. They are written into the
 * text, because SQLite uses no partial index for a bound value.
 */
export const inWords = (column: SQL, words: readonly string[]): SQL => {
  const quotedWords = words.map((word) => `'${word.replaceAll("'", "''")}'`).join(', ')
  return words.length === 1 ? sql`${column} = ${sql.raw(quotedWords)}` : sql`${column} in (${sql.raw(quotedWords)})`
}

const joinAlternatives = (conditions: SQL[]): SQL => {
  if (conditions.length === 0) return sql`0`
  return conditions.length === 1 && conditions[0] ? conditions[0] : sql`(${sql.join(conditions, sql` or `)})`
}

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
 * What the caller reaches with the roles of the operation. While the resource in the path is loaded, `acting_roles` is
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
  return joinAlternatives([
    ...(reach.organizations.length ? [table.inOrganizations(reach.organizations)] : []),
    ...(editionIds.length ? [table.inEditions(editionIds)] : []),
  ])
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

/** The resource that shows an image. */
interface ImageOwner {
  organization_id: string | null
}

/** True for rows of `files` that the caller may use as an image of `owner`: ready images of the same organisation. */
export const isShowable = (caller: Caller, { organization_id }: ImageOwner): SQL =>
  sql`(files.organization_id = ${organization_id} and ${eq(files.purpose, 'image')} and ${eq(files.status, 'ready')}
    and ${isVisibleTo(caller, buildVisibility(sql`files.organization_id`, sql`files.edition_id`))})`

/** Aborts the batch as a lost race if the file was deleted or may no longer be shown. */
export const requireShowable = (caller: Caller, owner: ImageOwner, id: string): SQL =>
  abortUnless(sql`exists (select 1 from files where files.id = ${id} and ${isShowable(caller, owner)})`)

/** The access key of the file whose id is in `column`. */
export const selectAccessKey = (column: SQL): SQL => sql`(select access_key from files where files.id = ${column})`
