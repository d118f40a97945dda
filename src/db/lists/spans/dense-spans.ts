import { type SQL, sql } from 'drizzle-orm'
import type { PageRequest } from '../../../domain/page.ts'
import type { Database } from '../../database.ts'
import { shortBits, written } from '../../edition-counts.ts'
import type { ListState } from '../list-hits.ts'
import { keyColumns, keysOf } from '../order-keys.ts'
import { keptKeyAt, type KeptSource } from '../paginate-kept.ts'

/** A short span with more rows is dense. The same number is in the index of such spans. */
const mostRows = 256
/** More rows before a page are not passed one by one, of a list that has more than these in the span. */
const passed = { most: 50, of: 100 }

/** Moments of a short span: the first, and the first one behind the last. Milliseconds UTC. */
export interface ShortSpan {
  span: number
  from: number
  until: number
}

interface SpannedPages {
  /** A query of the ids of the editions. */
  editions: SQL
  /** Queries up to `place` of `startInEditions`, for a page behind so many rows. */
  placeOf: (skipped: number) => SQL
  /** The rows of a span in the order of the list, and the state in which their keys are kept. */
  ofSpan: (span: ShortSpan) => { source: KeptSource; state: ListState }
}

/** Whether a short span of some editions may have more rows than are passed. */
async function haveDense(db: Database, editions: SQL): Promise<boolean> {
  const isDense = sql`span_bits = ${written(shortBits)} and (orders > ${written(mostRows)} or purchases > ${written(mostRows)})`
  const found = await db.first(sql`select 1 from order_counts indexed by order_counts_dense
    where edition_id in (${editions}) and ${isDense} limit 1`)
  return found !== undefined
}

/**
 * A request of a page by its number as one of the page behind a row, where many rows of the short span that has it stand before
 * it: as of an import that knows dates alone, or when a sale begins. The keys of the span are found once for each state.
 */
export async function behindRowOfDense(
  db: Database,
  request: PageRequest,
  { editions, placeOf, ofSpan }: SpannedPages,
): Promise<PageRequest> {
  const skipped = request.after ? 0 : (request.page - 1) * request.size
  if (skipped <= passed.of || !(await haveDense(db, editions))) return request
  const place = await db.first(sql<{ span: number; ahead: number; total: number }>`with ${placeOf(skipped)}
    select lo as span, ahead, total from place where size = 1 and bits = ${written(shortBits)}`)
  if (!place || place.ahead <= passed.most || place.total <= passed.of) return request
  const { span, ahead } = place
  const { source, state } = ofSpan({ span, from: span * 2 ** shortBits, until: (span + 1) * 2 ** shortBits })
  const key = await keptKeyAt(db, { source, state }, ahead - 1)
  if (key === null) return request
  const { keys } = keysOf(source, request)
  const row = await db.first(sql<Record<string, string | number>>`select ${keyColumns(keys.map(({ by }) => by))}
    from ${source.from} where ${source.key} = ${key}`)
  return row ? { ...request, after: keys.map((_, index) => row[`k${index}`] ?? '') } : request
}
