import { or, type SQL, sql } from 'drizzle-orm'
import { normalizeEmailPart } from '../domain/accounts/users.ts'
import { buildOrderText } from '../domain/orders/orders.ts'
import { fold, listPhoneDigits, parsePhoneNeedles, replaceAcute } from '../domain/text/fold.ts'
import {
  buildMatchExpression,
  encodeMark,
  gramLength,
  listIndexedTerms,
  markShifts,
  quotePhrase,
  type SearchTerm,
} from '../domain/text/trigrams.ts'
import type { Database, Statement } from './database.ts'

/** A search with more candidates than this walks the index of the list's ordering instead of sorting them. */
export const maxCandidates = 2000

/** A search for one or two letters compares this many of the newest rows: the index has only longer texts. */
export const maxNewest = 10_000

/** The tenants that a full-text search is limited to. */
export type SearchScope = { editions: readonly string[] } | { organizations: readonly string[] } | { editionId: string }

const buildMarks = (kind: keyof typeof markShifts, ids: readonly string[]): SQL =>
  sql`${ids.map((id) => quotePhrase(encodeMark(kind, id))).join(' OR ')}`

/** Computes the organisation's mark in SQL, because the request names only the edition. */
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
  /** A condition without columns. If it is false, SQLite does not read the index. */
  isVisible: SQL
  /** The search finds rows that may contain each of them. At least one has three letters or more. */
  terms: readonly SearchTerm[]
}

/**
 * A condition that finds index entries which may contain all terms. The index holds sequences of three letters and
 * two tenants may share a mark, so the query must also compare the text itself and the tenant.
 */
export function buildMatch(index: SearchIndex, { scope, isVisible, terms }: TextSearch): SQL {
  const phrases = buildMatchExpression(listIndexedTerms(terms))
  const expression = scope ? sql`'(' || ${buildScopeMarks(scope)} || ') AND (' || ${phrases} || ')'` : sql`${phrases}`
  // SQLite would check a condition next to `match` for every entry. No row contains the empty phrase.
  return sql`${sql.raw(index)} match iif(${isVisible}, ${expression}, '""')`
}

/**
 * The keys that each query finds, from one snapshot, or null if a query finds more than `maxCandidates`. Queries must find
 * only rows that the caller may see, so that their time reveals nothing about other rows.
 */
export async function findCandidates(
  db: Database,
  queries: readonly SQL<{ key: number }>[],
): Promise<number[][] | null> {
  if (queries.length === 0) return []
  const results = await db.batch(
    queries.map((query) => sql<{ key: number }>`select key from (${query}) limit ${maxCandidates + 1}`),
  )
  if (results.some(({ length }) => length > maxCandidates)) return null
  return results.map((rows) => rows.map(({ key }) => key))
}

/** A text of accents alone becomes empty when it is folded. SQLite would find an empty text in every row. */
const contains = (column: SQL, part: string): SQL => (part === '' ? sql`0` : sql`instr(${column}, ${part}) > 0`)

/** Folds a search text. An address, and a domain in the form that DNS has, are converted to the form that is stored. */
export const foldNeedle = (needle: string): string => fold(normalizeEmailPart(replaceAcute(needle)))

/** True if a folded column contains one of the folded texts. */
const containsAny = (column: SQL, parts: readonly string[]): SQL =>
  or(...parts.map((part) => contains(column, part))) ?? sql`0`

/** The most words of a search text that are compared, so that a statement has few parameters. */
const maxWords = 10

/** Splits a search text into words. A text without words is one word. */
function listWords(needle: string): string[] {
  const words = needle.split(/[\s,;]+/).filter((word) => foldNeedle(word) !== '')
  return words.length > 0 ? words.slice(0, maxWords) : [needle]
}

/** The words of a name, which a search finds in any order. */
export const listNameTerms = (needle: string): SearchTerm[] => listWords(needle).map((word) => [foldNeedle(word)])

/** The terms of a search for a customer: a phone number, or words of names and addresses in any order. */
export const listCustomerTerms = (needle: string): SearchTerm[] =>
  parsePhoneNeedles(needle).length > 0 ? [listSearchForms(needle)] : listWords(needle).map(listSearchForms)

/** True if a folded column contains all terms. */
export const containsTerms = (column: SQL, terms: readonly SearchTerm[]): SQL =>
  sql`(${sql.join(
    terms.map((spellings) => containsAny(column, spellings)),
    sql` and `,
  )})`

const countShortest = (term: SearchTerm): number => Math.min(...term.map((text) => Array.from(text).length))

/** True if a search has two letters or fewer, and is therefore limited to the newest rows. */
export const isShortSearch = (terms: readonly SearchTerm[]): boolean =>
  terms.reduce((sum, term) => sum + countShortest(term), 0) < gramLength

/** The forms of a search text in a column that holds folded text and the digits of phone numbers. */
export const listSearchForms = (needle: string): string[] => [foldNeedle(needle), ...parsePhoneNeedles(needle)]

/** True if a folded column contains the text. */
export const containsFolded = (column: SQL, needle: string): SQL => contains(column, foldNeedle(needle))

/** True if a column of folded text and phone digits contains the text: `+45 12 34` finds `451234`. */
export const containsFoldedOrDigits = (column: SQL, needle: string): SQL => containsAny(column, listSearchForms(needle))

/** True if a column of digits contains the digits of the text. A text without digits finds nothing. */
export function containsDigits(column: SQL, needle: string): SQL {
  const parts = listPhoneDigits(needle)
  return parts.length === 0 ? sql`0` : containsAny(column, parts)
}

/** The search text of an order with a new number. It reads the order's transactions when the statement runs. */
export const rebuildOrderText = (order: Parameters<typeof buildOrderText>[0]): SQL =>
  sql`${buildOrderText(order, [])} || coalesce((select group_concat(char(10) || lower(id), '')
    from (select id from transactions where order_id = ${order.id} order by created_at, id)), '')`

/** Adds a transaction to the search text of its order. */
export const addToOrderText = (orderId: string, transactionId: string): Statement =>
  sql`update orders set search_text = search_text || char(10) || lower(${transactionId}) where id = ${orderId}`

/** One statement writes this many pages of 4 KB, which takes about 200 ms. */
const pagesPerStep = 2000
const maxSteps = 100

const changes = sql<{ total: number }>`select total_changes() as total`

const searchIndexes = ['customer_search', 'edition_customer_search', 'order_search'] as const

/** Merges the segments of the search indexes, because FTS5 keeps deleted texts in older segments until then. */
export async function mergeSearchIndexes(db: Database): Promise<void> {
  for (const name of searchIndexes) await mergeIndex(db, name)
}

/** Stops after `maxSteps`, because concurrent writes may always leave something to merge. */
async function mergeIndex(db: Database, name: (typeof searchIndexes)[number]): Promise<void> {
  const index = sql.raw(name)
  const merge = sql`insert into ${index} (${index}, rank) values ('merge', ${sql.raw(`-${pagesPerStep}`)})`
  for (let step = 0; step < maxSteps; step++) {
    const [[before], , [after]] = await db.batch([changes, merge, changes])
    // According to FTS5's documentation, a merge without work changes fewer than two rows.
    if (Number(after?.total) - Number(before?.total) < 2) return
  }
}
