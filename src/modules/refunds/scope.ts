import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { isWord, type Ranges } from '../../db/lists/ranges.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { editionsReached, inOnlyOrganization, wholeScope } from '../../db/visibility.ts'
import { isOfWholeEditions, type RefundFilters } from './filters.ts'

/** What a list is asked for, with the organisation and the edition where the caller reaches no others. */
export function inReach({ caller }: Ctx, asked: RefundFilters): RefundFilters {
  const filters = inOnlyOrganization(caller, asked)
  const [only, ...others] = editionsReached(caller, filters) ?? []
  return only === undefined || others.length > 0 ? filters : { ...filters, edition_id: only }
}

/** A list that names no edition and nothing inside one is read as those of its editions. */
export const isOfEditions = (filters: RefundFilters): boolean => !filters.edition_id && isOfWholeEditions(filters)

/** The organisation of a list of all its requests, which its own spans and indexes have. */
export const organizationOf = (ctx: Ctx, filters: RefundFilters): string | undefined =>
  isOfEditions(filters) ? wholeScope(ctx.caller, filters) : undefined

/** More editions of a caller are merged, and their counts added up. */
const mostEditions = 8

/** The editions of a list of some of an organisation, which have ranges of their own in an index. */
export function fewEditionsOf(ctx: Ctx, filters: RefundFilters): readonly string[] | null {
  const ids = isOfEditions(filters) ? editionsReached(ctx.caller, filters) : null
  return ids?.length && ids.length <= mostEditions && ids.every(isWord) ? ids : null
}

/** So many ranges are read at once: a row of each is read beside those of a page. */
const mostRanges = 64

/** The ranges of editions in an index that has `ranges` in each; null where they are too many. */
export function rangesOfEditions(editions: readonly string[], ranges: Ranges | undefined): Ranges | null {
  const { columns = [], values = [[]] } = ranges ?? {}
  if (editions.length * values.length > mostRanges) return null
  return {
    columns: [sql`${refundRequests.edition_id}`, ...columns],
    values: editions.flatMap((id) => values.map((ofRange) => [id, ...ofRange])),
    areWords: true,
  }
}
