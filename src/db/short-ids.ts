import { type SQL, sql } from 'drizzle-orm'

/**
 * The end of the id of an edition or an organisation, which no other one has: keys and indexes have it in place of the
 * whole id.
 */
export const shortId = (id: string): string => id.slice(-8)

/** The short id of an edition that a request names. Null where no edition has this whole id. */
export const shortIdOfEdition = (id: string): SQL => sql`(select short_id from editions where id = ${id})`
