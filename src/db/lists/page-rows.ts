import { AppError } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { KeyValues } from './order-keys.ts'

/** A row of a list with the keys that it is ordered by. */
export type Keyed<Row> = Row & Record<string, string | number>

/** The rows of a page. `isFollowed` says whether another page follows. */
export function pageOf<Row>(
  { page, size }: PageRequest,
  keyCount: number,
  rows: Keyed<Row>[],
  { count, isFollowed }: { count: number; isFollowed: boolean },
): Page<Row> {
  const last = rows.at(-1)
  const after = last && isFollowed ? Array.from({ length: keyCount }, (_, index) => last[`k${index}`] ?? '') : null
  return { rows, count, page, size, after }
}

/** `found` has one row more than the page where another page follows. */
export const pageFrom = <Row>(request: PageRequest, keyCount: number, found: Keyed<Row>[], count: number): Page<Row> =>
  pageOf(request, keyCount, found.slice(0, request.size), { count, isFollowed: found.length > request.size })

/** Throws where a page by number is behind the last. */
export function judgePage({ page, size }: PageRequest, after: KeyValues | null, count: number): void {
  if (page > 1 && !after && (page - 1) * size >= count) throw new AppError('invalid_page', 'Invalid page.')
}
