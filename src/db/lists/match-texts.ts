import { type SQL, sql } from 'drizzle-orm'
import { inCapitals, markShifts, matching, quotedMark } from '../../domain/text/trigrams.ts'

/** Which rows of an index are meant. */
export interface IndexScope {
  /** The marks of editions or organisations, joined as FTS5 takes them; null for those of all. */
  marks: SQL | null
  /** A condition on the caller, without columns of the index. Nothing is read where it is false. */
  isVisible: SQL
}

/** The mark of one scope, or those of several. */
export const marksOf = (kind: 'edition' | 'organization', ids: readonly string[]): SQL =>
  sql`${ids.map((id) => quotedMark(kind, id)).join(' OR ')}`

/** The mark of the organisation of an edition. */
export const markOfOrganization = (editionId: string): SQL => {
  const moved = [3, 2, 1].map((place) =>
    sql.raw(`unicode(substr(organization_id, -${place})) + ${markShifts.organization}`),
  )
  return sql`(select '"' || char(${sql.join(moved, sql`, `)}) || '"' from editions where id = ${editionId})`
}

interface Entries {
  table: 'order_search' | 'customer_search'
  texts: readonly string[]
  limit: SQL
}

function entries({ marks, isVisible }: IndexScope, { table, texts, limit }: Entries): SQL {
  const name = sql.raw(table)
  const found = matching(texts)
  const match = marks ? sql`'(' || ${marks} || ') AND (' || ${found} || ')'` : sql`${found}`
  return sql`select ${name}.rowid as key from ${name} where ${name} match ${match} and ${isVisible} ${limit}`
}

/** Orders with one of the texts among their numbers and ids. */
export const ordersWithTexts =
  (scope: IndexScope, texts: readonly string[]) =>
  (limit: SQL): SQL =>
    entries(scope, { table: 'order_search', texts, limit })

/** Customers with one of the texts among their names, addresses and numbers. */
export const customersWithTexts =
  (scope: IndexScope, texts: readonly string[]) =>
  (limit: SQL): SQL =>
    entries(scope, { table: 'customer_search', texts: [...texts, ...texts.map(inCapitals)], limit })

/** Orders of customers with one of the texts among their addresses and numbers. Null for a customer without orders. */
export const ordersOfContacts =
  (scope: IndexScope, texts: readonly string[]) =>
  (limit: SQL): SQL => {
    const found = entries(scope, { table: 'customer_search', texts, limit })
    return sql`select bought.seq as key from (${found}) as contacts
      cross join users as customers on customers.seq = contacts.key
      left join orders as bought on bought.user_id = customers.id ${limit}`
  }
