import { type SQL, sql } from 'drizzle-orm'
import { type Caller, type Reach, reachOf, type RoleCode } from '../domain/accounts/access.ts'

/** A list of ids of any length as one bound parameter. */
export const inList = (column: SQL, values: readonly (string | number)[]): SQL =>
  sql`${column} in (select value from json_each(${JSON.stringify(values)}))`

/**
 * A column that has one of these words of the domain. They are written out, because SQLite does not use a partial index
 * for a bound value.
 */
export const inWords = (column: SQL, words: readonly string[]): SQL => {
  const written = words.map((word) => `'${word}'`).join(', ')
  return words.length === 1 ? sql`${column} = ${sql.raw(written)}` : sql`${column} in (${sql.raw(written)})`
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

export const visibilityOf = (organization: SQL, edition: SQL): Visibility => ({
  inOrganizations: (ids) => inList(organization, ids),
  inEditions: (ids) => inList(edition, ids),
})

/** True for the rows that the caller reaches through one of `roles`; every read of the API goes through this. */
export function visible(caller: Caller, table: Visibility, roles?: readonly RoleCode[]): SQL {
  const reach = reachOf(caller, roles)
  return reach.all ? sql`1` : within(reach, table)
}

function within(reach: Extract<Reach, { all: false }>, table: Visibility): SQL {
  const editions = reach.editions.flatMap((grant) => grant.edition_id ?? [])
  return either([
    ...(reach.organizations.length ? [table.inOrganizations(reach.organizations)] : []),
    ...(editions.length ? [table.inEditions(editions)] : []),
  ])
}

/**
 * As `visible`, for a list of one organisation or one edition: what the caller reaches there is decided
 * before the first row, so that an index alone can find and count the rows.
 */
export function visibleIn(
  caller: Caller,
  table: Visibility,
  asked: { organization_id?: string | undefined; edition_id?: string | undefined },
  roles?: readonly RoleCode[],
): SQL {
  const reach = reachOf(caller, roles)
  if (reach.all) return sql`1`
  const { organization_id, edition_id } = asked
  if (organization_id !== undefined && reach.organizations.includes(organization_id)) return sql`1`
  if (edition_id === undefined) return within(reach, table)
  if (reach.editions.some((grant) => grant.edition_id === edition_id)) return sql`1`
  return sql`exists (select 1 from editions where editions.id = ${edition_id}
    and ${inList(sql`editions.organization_id`, reach.organizations)})`
}
