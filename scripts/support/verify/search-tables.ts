import type { Comparison } from './comparisons.ts'

/** A mark of the search index: the last three characters of an id, moved by an offset (migrations/0007_customers.sql). */
const mark = (id: string, offset: number): string =>
  `char(${[-3, -2, -1].map((place) => `unicode(substr(${id}, ${place}${place === -1 ? '' : ', 1'})) + ${offset}`).join(', ')})`

const term = (text: string): string => `'"' || replace(${text}, '"', '""') || '"'`

/** The search index has no copy of the texts, so a row is looked up by its first and last letters and its mark. */
const compareSearch = (table: string, index: string, id: string, marks: readonly string[]): Comparison => {
  const terms = [`substr(${table}.search_text, 1, 3)`, `substr(${table}.search_text, -3)`, ...marks].map(term)
  return {
    title: `Search index ${index}`,
    unit: 'rows',
    table,
    keys: ['seq'],
    id,
    where: `length(${table}.search_text) >= 3`,
    stored: '1',
    counted: `exists (select 1 from ${index} where ${index} match (${terms.join(" || ' ' || ")}) and rowid = ${table}.seq)`,
    describe: (rowId) => `${index} does not have ${rowId}.`,
  }
}

export const searchTables: readonly Comparison[] = [
  compareSearch('orders', 'order_search', 'orders.id', [
    mark('orders.edition_id', 736),
    mark('orders.organization_id', 917_728),
  ]),
  compareSearch('users', 'customer_search', 'users.id', [mark('users.organization_id', 917_728)]),
  compareSearch('edition_customers', 'edition_customer_search', "edition_customers.edition_id || ' ' || user_seq", [
    mark('edition_customers.edition_id', 736),
  ]),
]
