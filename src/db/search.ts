import { type SQL, sql } from 'drizzle-orm'
import { encodeMark, markShifts, buildMatchExpression, quotePhrase } from '../domain/text/trigrams.ts'
import type { Database, Statement } from './database.ts'
import { fold, listPhoneDigits, parsePhoneNeedles } from '../domain/text/fold.ts'
import { buildOrderText } from '../domain/orders/orders.ts'

/** A search joins, compares and sorts at most this many candidates. With more, the list walks the index of its ordering. */
export const maxCandidates = 2000

/** A text of one or two letters is compared with this many of the newest rows, because no index has texts so short. */
export const maxNewest = 10_000

/** What limits the entries of a full-text index before they are counted. */
export type SearchScope = { editions: readonly string[] } | { organizations: readonly string[] } | { editionId: string }

const buildMarks = (kind: keyof typeof markShifts, ids: readonly string[]): SQL =>
  sql`${ids.map((id) => quotePhrase(encodeMark(kind, id))).join(' OR ')}`

/** The mark of the organization of an edition, which the request does not name. */
function buildOrganizationMark(editionId: string): SQL {
  const letters = [3, 2, 1].map((place) =>
    sql.raw(`unicode(substr(organization_id, -${place})) + ${markShifts.organization}`),
  )
  return sql`(select '"' || char(${sql.join(letters, sql`, `)}) || '"' from editions where id = ${editionId})`
}

function buildScopeMarks(scope: SearchScope): SQL {
  if ('editions' in scope) return buildMarks('edition', scope.editions)
  if ('organizations' in scope) return buildMarks('organization', scope.organizations)
  return buildOrganizationMark(scope.editionId)
}

type SearchIndex = 'order_search' | 'customer_search' | 'edition_customer_search'

interface TextSearch {
  /** Null searches the rows of all organizations. */
  scope: SearchScope | null
  /** A condition on the caller, without columns. Where it is false, the index is not read. */
  isVisible: SQL
  /** Rows that may contain one of these folded texts are found. Each has three letters or more. */
  texts: readonly string[]
}

/**
 * A condition that finds the entries of a full-text index which may contain a text. The index has sequences of three
 * letters, so whoever uses it compares the text itself. Two scopes may share a mark, so the scope is compared too.
 */
export function buildMatch(index: SearchIndex, { scope, isVisible, texts }: TextSearch): SQL {
  const phrases = buildMatchExpression(texts)
  const expression = scope ? sql`'(' || ${buildScopeMarks(scope)} || ') AND (' || ${phrases} || ')'` : sql`${phrases}`
  // A condition beside `match` would be checked once an entry. No row contains the empty phrase.
  return sql`${sql.raw(index)} match iif(${isVisible}, ${expression}, '""')`
}

/**
 * The keys that each query finds, from one snapshot. Null where one of them finds more than `maxCandidates`. A query
 * answers `key` and finds nothing outside what the caller may see, so that its time tells nothing about other rows.
 */
export async function findCandidates(
  db: Database,
  queries: readonly SQL<{ key: number }>[],
): Promise<number[][] | null> {
  const rowsOfQueries = await db.batch(
    queries.map((query) => sql<{ key: number }>`select key from (${query}) limit ${maxCandidates + 1}`),
  )
  if (rowsOfQueries.some(({ length }) => length > maxCandidates)) return null
  return rowsOfQueries.map((rows) => rows.map(({ key }) => key))
}

const anyOf = (conditions: readonly SQL[]): SQL => sql`(${sql.join([...conditions], sql` or `)})`

const contains = (column: SQL, part: string): SQL => sql`instr(${column}, ${part}) > 0`

/** Whether a folded column has one of these folded texts. */
const containsAny = (column: SQL, parts: readonly string[]): SQL => anyOf(parts.map((part) => contains(column, part)))

/** The texts of which one has to be in a folded column that also holds telephone numbers as digits. */
export const listSearchForms = (needle: string): string[] => [fold(needle), ...parsePhoneNeedles(needle)]

/** The contains-filter on a folded column: exact, without the limits of LIKE. */
export const containsFolded = (column: SQL, needle: string): SQL => contains(column, fold(needle))

/** As above for a column that also holds telephone numbers as digits: `+45 12 34` finds `451234`. */
export const containsFoldedOrDigits = (column: SQL, needle: string): SQL => containsAny(column, listSearchForms(needle))

/** Compares digits alone; a needle without any digit finds nothing. */
export function containsDigits(column: SQL, needle: string): SQL {
  const parts = listPhoneDigits(needle)
  return parts.length === 0 ? sql`0` : containsAny(column, parts)
}

/** The search text of an order whose number changes. Its transactions are read when the statement runs. */
export const rebuildOrderText = (order: Parameters<typeof buildOrderText>[0]): SQL =>
  sql`${buildOrderText(order, [])} || coalesce((select group_concat(char(10) || lower(id), '')
    from (select id from transactions where order_id = ${order.id} order by created_at, id)), '')`

/** Adds a transaction to the search text of its order. */
export const addToOrderText = (orderId: string, transactionId: string): Statement =>
  sql`update orders set search_text = search_text || char(10) || lower(${transactionId}) where id = ${orderId}`
