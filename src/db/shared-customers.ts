import { type SQL, sql } from 'drizzle-orm'
import { inList } from './visibility.ts'

/** Contact columns of a customer, as `users` and, for what an edition's imports said, `user_editions` have them. */
export type ContactColumn = 'email' | 'phone_number' | 'first_name' | 'last_name'

/** Holds for a row of `users` whom an edition beside `editionIds` knows too. `user` is the row's name in the query. */
export const isKnownElsewhere = (user: SQL, editionIds: readonly string[]): SQL =>
  sql`exists (select 1 from user_editions as others where others.user_id = ${user}.id
    and not (${inList(sql`others.edition_id`, editionIds)}))`

/** What the imports of these editions said last of the customer; null or an empty text when they said nothing. */
export const contactGivenIn = (user: SQL, column: ContactColumn, editionIds: readonly string[]): SQL => {
  const name = sql.raw(column)
  const isNullable = column === 'email' || column === 'phone_number'
  const given = sql`(select ${name} from user_editions as given where given.user_id = ${user}.id
    and ${inList(sql`given.edition_id`, editionIds)} and coalesce(given.${name}, '') <> ''
    order by given.created_at desc, given.edition_id limit 1)`
  return isNullable ? given : sql`coalesce(${given}, '')`
}

/** A contact column as roles of these editions see it: the customer's own, unless other editions know them too. */
export const contactSeenIn = (user: SQL, column: ContactColumn, editionIds: readonly string[]): SQL =>
  sql`iif(${isKnownElsewhere(user, editionIds)}, ${contactGivenIn(user, column, editionIds)}, ${user}.${sql.raw(column)})`
