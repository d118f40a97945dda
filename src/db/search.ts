import { type SQL, sql } from 'drizzle-orm'
import { encodeMark, markShifts, buildMatchExpression, quotePhrase } from '../domain/text/trigrams.ts'
import type { Database } from './database.ts'

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
