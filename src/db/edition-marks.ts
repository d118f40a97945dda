import { type SQL, sql } from 'drizzle-orm'
import { editionCustomers } from './schema/users.ts'
import { fromJson } from './select.ts'
import { insertFound } from './write.ts'

/** The end of the id of an edition, which no other edition has: `edition_customers` is keyed by it. */
export const editionMark = (id: string): string => id.slice(-8)

export const editionMarks = (ids: readonly string[]): string[] => ids.map(editionMark)

/** As `editionMark`, of an expression of an id. Rows of `editions` have it as `mark`. */
export const markOf = (id: SQL): SQL => sql`substr(${id}, -8)`

/** The ids of the editions of a customer, whose number `seq` is. */
export const editionIdsOf = (seq: SQL) =>
  fromJson<string[]>(sql`(select json_group_array(editions.id) from edition_customers
    join editions on editions.mark = edition_mark where user_seq = ${seq})`)

/** A customer of an edition by the ids of both. */
export type EditionCustomer = Omit<typeof editionCustomers.$inferInsert, 'edition_mark' | 'user_seq'> & {
  edition_id: string
  user_id: string
}

export const insertEditionCustomers = (customers: readonly EditionCustomer[]): SQL[] =>
  insertFound(
    editionCustomers,
    customers.map(({ edition_id, user_id, ...row }) => ({
      edition_mark: editionMark(edition_id),
      user_seq: user_id,
      ...row,
    })),
    { user_seq: (id) => sql`(select seq from users where id = ${id})` },
  )
