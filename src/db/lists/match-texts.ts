import { type SQL, sql } from 'drizzle-orm'
import { inCapitals, markOf, markShifts, matching, quoted } from '../../domain/text/trigrams.ts'

/** The mark of one scope, or those of several. */
export const marksOf = (kind: 'edition' | 'organization', ids: readonly string[]): SQL =>
  sql`${ids.map((id) => quoted(markOf(kind, id))).join(' OR ')}`

/** The mark of the edition or the organisation of a row, as the index has it. */
export const markOfRow = (kind: 'edition' | 'organization'): SQL => {
  const moved = [3, 2, 1].map((place) => sql.raw(`unicode(substr(${kind}_id, -${place})) + ${markShifts[kind]}`))
  return sql`char(${sql.join(moved, sql`, `)})`
}

/** The mark of the organisation of an edition. */
export const markOfOrganization = (editionId: string): SQL =>
  sql`(select '"' || ${markOfRow('organization')} || '"' from editions where id = ${editionId})`

interface IndexQuery {
  /** The marks of editions or organisations, joined as FTS5 takes them; null for those of all. */
  marks: SQL | null
  /** A condition on the caller, without columns of the index. Nothing is read where it is false. */
  isVisible: SQL
  /** One of these is looked for. */
  texts: readonly string[]
}

/**
 * Entries of an index that may have a text: a table under some name, and the conditions that find them. `rowid` is the key of
 * a row. Any other column is read from the row by FTS5 itself, which D1 does not count.
 */
export interface IndexEntries {
  table: SQL
  where: SQL
  /** The conditions that the index alone answers, without reading a row. */
  match: SQL
}

/** What `name` answers for the row that an entry of the index under the name `of` leads to. FTS5 reads it by itself, too. */
export const lookedUp = (name: string, of: 'orders' | 'customers' | 'users'): SQL =>
  sql.raw(`(select entry from ${name} where rowid = ${of}.rowid)`)

function entriesOf(index: 'customer_search', name: string, query: IndexQuery): IndexEntries {
  const { marks, isVisible, texts } = query
  const found = matching(texts)
  const phrases = marks ? sql`'(' || ${marks} || ') AND (' || ${found} || ')'` : sql`${found}`
  const [table, column] = [sql.raw(`${index} as ${name}`), sql.raw(`${name}.${index}`)]
  // As a condition of its own it would be joined to each entry. No row has an empty phrase.
  const where = sql`${column} match iif(${isVisible}, ${phrases}, '""')`
  return { table, where, match: where }
}

/** Customers with one of the texts among their names, addresses and numbers, as `users`. */
export const customersWithTexts = (query: IndexQuery): IndexEntries =>
  entriesOf('customer_search', 'users', { ...query, texts: [...query.texts, ...query.texts.map(inCapitals)] })
