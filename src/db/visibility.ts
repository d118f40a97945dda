import { type SQL, sql, eq } from 'drizzle-orm'
import { type Caller, type Reach, getReach, type RoleCode } from '../domain/accounts/access.ts'
import { editions } from './schema/editions.ts'
import { abortUnless } from './commit.ts'
import { files } from './schema/files/files.ts'

/** A list of ids of any length as one bound parameter. */
export const inList = (column: SQL, values: readonly (string | number)[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`

/**
 * A column that has one of these words of the domain. They are written out, because SQLite does not use a partial index
 * for a bound value.
 */
export const inWords = (column: SQL, words: readonly string[]): SQL => {
  const quotedWords = words.map((word) => `'${word.replaceAll("'", "''")}'`).join(', ')
  return words.length === 1 ? sql`${column} = ${sql.raw(quotedWords)}` : sql`${column} in (${sql.raw(quotedWords)})`
}

const either = (conditions: SQL[]): SQL => {
  if (conditions.length === 0) return sql`0`
  return conditions.length === 1 && conditions[0] ? conditions[0] : sql`(${sql.join(conditions, sql` or `)})`
}

/** The SQL that finds a table's rows of some organisations, and of some editions. */
export interface Visibility {
  inOrganizations: (ids: readonly string[]) => SQL
  inEditions: (ids: readonly string[]) => SQL
}

export const buildVisibility = (organization: SQL, edition: SQL): Visibility => ({
  inOrganizations: (ids) => inList(organization, ids),
  inEditions: (ids) => inList(edition, ids),
})

/** Of rows that name their edition alone: an organisation has those of its editions. */
export const buildVisibilityByEdition = (edition: SQL): Visibility => ({
  inOrganizations: (ids) => inList(sql`(select organization_id from editions where editions.id = ${edition})`, ids),
  inEditions: (ids) => inList(edition, ids),
})

export const editionVisibility = buildVisibility(sql`${editions.organization_id}`, sql`${editions.id}`)

/**
 * What the caller reaches through the roles of the operation. While the path is looked up every role counts, so that a
 * caller who may only read is told which role the operation takes.
 */
export const getActingReach = (caller: Caller, roles = caller.acting_roles): Reach => getReach(caller, roles)

/**
 * True for the rows that the caller reaches through the operation's roles, or through `roles` alone; every read of the
 * API goes through this.
 */
export function isVisible(caller: Caller, table: Visibility, roles?: readonly RoleCode[]): SQL {
  const reach = getActingReach(caller, roles)
  return reach.all ? sql`1` : within(reach, table)
}

function within(reach: Extract<Reach, { all: false }>, table: Visibility): SQL {
  const editionIds = reach.editions.flatMap((grant) => grant.edition_id ?? [])
  return either([
    ...(reach.organizations.length ? [table.inOrganizations(reach.organizations)] : []),
    ...(editionIds.length ? [table.inEditions(editionIds)] : []),
  ])
}

/** Whether the caller reaches all rows of an organisation through the operation's roles. */
export function seesOrganization(caller: Caller, id: string): boolean {
  const reach = getActingReach(caller)
  return reach.all || reach.organizations.includes(id)
}

interface AskedTenant {
  organization_id?: string | undefined
  edition_id?: string | undefined
}

/** The ids of the organisations that a caller reaches, as a whole or some editions of them; null for all. */
export function listReachedOrganizations(caller: Caller): string[] | null {
  const reach = getActingReach(caller)
  if (reach.all) return null
  return [...new Set([...reach.organizations, ...reach.editions.map((grant) => grant.organization_id)])]
}

/**
 * What a list is asked for, with its organisation where none is named and the caller reaches no other: indexes and counts have
 * the rows of one together. An edition says as much.
 */
export function addOnlyOrganization<Asked extends AskedTenant>(caller: Caller, asked: Asked): Asked {
  const [only, ...others] = listReachedOrganizations(caller) ?? []
  if (asked.organization_id !== undefined || asked.edition_id !== undefined || others.length > 0) return asked
  return only === undefined ? asked : { ...asked, organization_id: only }
}

/**
 * As `isVisible`, for a list of one organisation or one edition: what the caller reaches there is decided
 * before the first row, so that an index alone can find and count the rows.
 */
export function isVisibleIn(caller: Caller, table: Visibility, asked: AskedTenant): SQL {
  const reach = getActingReach(caller)
  if (reach.all) return sql`1`
  const { organization_id, edition_id } = asked
  if (organization_id !== undefined && seesOrganization(caller, organization_id)) return sql`1`
  if (edition_id === undefined) return within(reach, table)
  if (reach.editions.some((grant) => grant.edition_id === edition_id)) return sql`1`
  return sql`exists (select 1 from editions where editions.id = ${edition_id}
    and ${inList(sql`editions.organization_id`, reach.organizations)})`
}

interface Shower {
  organization_id: string | null
}

/** True for the rows of `files` that the caller may show: images of the shower's organisation that are ready. */
export const isShowable = (caller: Caller, { organization_id }: Shower): SQL =>
  sql`(files.organization_id = ${organization_id} and ${eq(files.purpose, 'image')} and ${eq(files.status, 'ready')}
    and ${isVisible(caller, buildVisibility(sql`files.organization_id`, sql`files.edition_id`))})`

/** Aborts the batch, as a lost race, where the file is gone meanwhile or is no longer what may be shown. */
export const requireShowable = (caller: Caller, shower: Shower, id: string): SQL =>
  abortUnless(sql`exists (select 1 from files where files.id = ${id} and ${isShowable(caller, shower)})`)

/** The key in the address of the file that `column` names. */
export const selectAccessKey = (column: SQL): SQL => sql`(select access_key from files where files.id = ${column})`
