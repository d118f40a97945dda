import { type SQL, sql } from 'drizzle-orm'
import type { PageRequest } from '../../domain/page.ts'
import type { Database } from '../database.ts'

/** A better way to count a list. */
export interface Counting {
  /** Answers one row. It runs in the transaction of the page. */
  statement: SQL<{ n: number }>
}

/**
 * Where a page begins. `where` and `offset` name what `ctes` defines. An order that reads one run of an index after the
 * other has a condition for each; `offset` counts the rows that all of them leave before the page.
 */
export interface PageStart {
  ctes: SQL
  where: readonly SQL[]
  offset: SQL
  /** The count of the list, which names them too. Left out where it is none of `ctes`. */
  count?: SQL
}

export interface Window {
  limit: number | SQL
  offset: number | SQL
}

/** How a page is found: from where it begins, or from the end of a list of so many rows. */
export interface PageRoute {
  start: PageStart | null
  countedFromEnd: SQL | null
  /** What the others name. */
  ctes: SQL | null
}

const fromTheFirstRow: PageRoute = { start: null, countedFromEnd: null, ctes: null }

/** The most rows before a page that are read one by one; fewer where each is read twice, as of rows that are merged. */
const shortSkip = 200
export const shortSkipOfTwice = 100
/** More rows than this are not read where stored counts may lead to the page. */
export const longSkip = 2000

/** Whether a page is asked for by a number, and is not one of the first. */
export const isFarPage = ({ page, size, after }: PageRequest): boolean =>
  after === null && (page - 1) * size >= shortSkip

interface Numbered {
  shortSkip?: number | undefined
  counting: Counting | null
  startOf: ((skipped: number) => PageStart | Promise<PageStart | null>) | undefined
  findStart: ((skipped: number, nearest: number) => Promise<PageStart | null>) | undefined
  isReversible: boolean
}

/** The way to the page behind so many rows that reads the fewest of them. */
export async function routeTo(db: Database, skipped: number, list: Numbered): Promise<PageRoute> {
  if (skipped < (list.shortSkip ?? shortSkip)) return fromTheFirstRow
  const start = await list.startOf?.(skipped)
  if (start) return { start, countedFromEnd: null, ctes: start.ctes }
  const { counting, isReversible, findStart } = list
  if (!counting || (!isReversible && !findStart)) return fromTheFirstRow
  const { statement } = counting
  // Which end is nearer may change until the page is read. Where it begins is decided when it is read.
  const total = (await db.first(statement))?.n ?? 0
  const fromEnd = isReversible ? total - skipped : Infinity
  const nearest = Math.min(skipped, fromEnd)
  const found = total > skipped && nearest > longSkip ? await findStart?.(skipped, nearest) : null
  if (found) return { start: found, countedFromEnd: null, ctes: found.ctes }
  if (skipped <= fromEnd) return fromTheFirstRow
  // A page names the number many times. Its parameters are bound once: D1 takes a hundred.
  const ctes = sql`counted (n) as materialized (select n from (${statement}))`
  return { start: null, countedFromEnd: sql`(select n from counted)`, ctes }
}

/** The same rows by their places from the end. */
export const windowFromEnd = ({ limit, offset }: { limit: Window['limit']; offset: number }, count: SQL): Window => ({
  limit: sql`max(0, min(${limit}, ${count} - ${offset}))`,
  offset: sql`max(0, ${count} - ${offset} - ${limit})`,
})
