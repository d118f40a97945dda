import { type SQL, sql } from 'drizzle-orm'
import { editionCustomers } from './schema/users.ts'
import { fromJson } from './select.ts'
import { shortId } from './short-ids.ts'
import { insertFound } from './write.ts'

/** The ids of the editions of a customer, whose number `seq` is. */
export const editionIdsOf = (seq: SQL) =>
  fromJson<string[]>(sql`(select json_group_array(editions.id) from edition_customers
    join editions on editions.short_id = edition_short_id where user_seq = ${seq})`)

/** A customer of an edition by the ids of both. */
export type EditionCustomer = Omit<typeof editionCustomers.$inferInsert, 'edition_short_id' | 'user_seq'> & {
  edition_id: string
  user_id: string
}

export const insertEditionCustomers = (customers: readonly EditionCustomer[]): SQL[] =>
  insertFound(
    editionCustomers,
    customers.map(({ edition_id, user_id, ...row }) => ({
      edition_short_id: shortId(edition_id),
      user_seq: user_id,
      ...row,
    })),
    { user_seq: (id) => sql`(select seq from users where id = ${id})` },
  )
