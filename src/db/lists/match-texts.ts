import { type SQL, sql } from 'drizzle-orm'
import { inCapitals, markShifts, matching, quotedMark } from '../../domain/text/trigrams.ts'

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

interface IndexQuery {
  /** The marks of editions or organisations, joined as FTS5 takes them; null for those of all. */
  marks: SQL | null
  /** A condition on the caller, without columns of the index. Nothing is read where it is false. */
  isVisible: SQL
  /** One of these is looked for. */
  texts: readonly string[]
  /** A clause, or empty. */
  limit: SQL
}

function entriesOf(table: 'order_search' | 'customer_search', { marks, isVisible, texts, limit }: IndexQuery): SQL {
  const name = sql.raw(table)
  const found = matching(texts)
  const match = marks ? sql`'(' || ${marks} || ') AND (' || ${found} || ')'` : sql`${found}`
  return sql`select ${name}.rowid as key from ${name} where ${name} match ${match} and ${isVisible} ${limit}`
}

/** Orders with one of the texts among their numbers and ids. */
export const ordersWithTexts = (query: IndexQuery): SQL => entriesOf('order_search', query)

/** Customers with one of the texts among their names, addresses and numbers. */
export const customersWithTexts = (query: IndexQuery): SQL =>
  entriesOf('customer_search', { ...query, texts: [...query.texts, ...query.texts.map(inCapitals)] })

/** Orders of customers with one of the texts among their addresses and numbers. Null for a customer without orders. */
export const ordersOfContacts = (query: IndexQuery): SQL =>
  sql`select bought.seq as key from (${entriesOf('customer_search', query)}) as contacts
    cross join users as customers on customers.seq = contacts.key
    left join orders as bought on bought.user_id = customers.id ${query.limit}`
