import { type SQL, sql } from 'drizzle-orm'

/**
 * The end of the id of an edition or an organisation, which no other one has: keys and indexes have it in place of the
 * whole id.
 */
export const shortId = (id: string): string => id.slice(-8)

export const shortIds = (ids: readonly string[]): string[] => ids.map(shortId)

/** As `shortId`, of an expression of an id. Rows of `editions` and `organizations` have it as `short_id`. */
export const shortIdOf = (id: SQL): SQL => sql`substr(${id}, -8)`

/** As `shortIdOfEdition`, of an organisation. */
export const shortIdOfOrganization = (id: string): SQL => sql`(select short_id from organizations where id = ${id})`

/** The short ids of editions, as `id`, from a query of their ids. `more` are columns of this query that are answered too. */
export const shortIdsOf = (ids: SQL, more: SQL = sql``): SQL =>
  sql`select ${shortIdOf(sql`id`)} as id${more} from (${ids})`
