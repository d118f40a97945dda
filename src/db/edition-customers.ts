import { type SQL, sql } from 'drizzle-orm'
import { editionCustomers } from './schema/users.ts'
import { insertWithLookups } from './write.ts'

/** A customer of an edition by the ids of both. */
export type EditionCustomer = Omit<typeof editionCustomers.$inferInsert, 'user_seq'> & { user_id: string }

export const insertEditionCustomers = (customers: readonly EditionCustomer[]): SQL[] =>
  insertWithLookups(
    editionCustomers,
    customers.map(({ user_id, ...row }) => ({ ...row, user_seq: user_id })),
    { user_seq: (id) => sql`(select seq from users where id = ${id})` },
  )
