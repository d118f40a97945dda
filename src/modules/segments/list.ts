import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { viewCustomers } from '../../db/customers.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, maxIndexedOffset, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { segments } from '../../db/schema/segments.ts'
import { containsTerms, isShortSearch, listCustomerTerms, maxNewest } from '../../db/search.ts'
import type { RowOf } from '../../db/select.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { buildUserFields, findCustomerCandidates, type LoadedUser } from '../users/index.ts'
import { selectConsentStatus } from './calculation/audience.ts'
import type { SegmentQuery, SegmentUserQuery, UserSegmentQuery } from './contract.ts'
import { explainSegments, type SegmentExplanation } from './expressions/explain.ts'
import { checkReady, type LoadedSegment, segmentColumns, type SegmentRow, segmentVisibility } from './queries.ts'

const filters: FilterTable<SegmentQuery> = {
  organization_id: equals(segments.organization_id),
  edition_id: equals(segments.edition_id),
  status: equals(segments.status),
  communication_type: equals(segments.communication_type),
  communication_channel: equals(segments.communication_channel),
  search: contains(segments.search),
}

const sortColumns = {
  created: sql`${segments.created_at}`,
  modified: sql`${segments.modified_at}`,
  name: sql`${segments.name_key}`,
  user_count: sql`${segments.user_count}`,
  calculated_at: { nullable: sql`${segments.calculated_at}` },
}

const joins = sql`join ${segments} on ${segments.seq} = page.id
  join ${organizations} on ${organizations.id} = ${segments.organization_id}
  left join ${editions} on ${editions.id} = ${segments.edition_id}`

export const listSegments = (ctx: Ctx, page: PageRequest, query: SegmentQuery): Promise<Page<SegmentRow>> =>
  paginate(ctx.db, page, {
    from: sql`${segments}`,
    where: [
      isNull(segments.deleted_at),
      isVisibleIn(ctx.caller, segmentVisibility, query),
      ...buildConditions(filters, query),
    ],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${segments.seq}`,
    columns: segmentColumns,
    joins,
  })

export interface UserSegmentRow {
  segment: SegmentRow
  /** Null: the database cannot evaluate the expression. */
  explanation: SegmentExplanation | null
}

const userSegmentFilters: FilterTable<UserSegmentQuery> = {
  edition_id: equals(segments.edition_id),
  communication_channel: equals(segments.communication_channel),
}

/** Lists the segments that the caller sees of a customer's organisation, with what decides about the customer in each. */
export async function listUserSegments(
  ctx: Ctx,
  page: PageRequest,
  { ordering, ...query }: UserSegmentQuery,
  user: LoadedUser,
): Promise<Page<UserSegmentRow>> {
  const { organization_id } = user
  const segmentPage = await paginate(ctx.db, page, {
    from: sql`${segments}`,
    where: [
      isNull(segments.deleted_at),
      eq(segments.organization_id, organization_id),
      isVisibleIn(ctx.caller, segmentVisibility, { organization_id, edition_id: query.edition_id }),
      ...buildConditions(userSegmentFilters, query),
    ],
    orderBy: buildOrderBy(ordering, '-created', { created: sortColumns.created }),
    id: sql`${segments.seq}`,
    columns: segmentColumns,
    joins,
  })
  const explanations = await explainSegments(ctx, segmentPage.rows, user.id)
  return {
    ...segmentPage,
    rows: segmentPage.rows.map((segment, index) => ({ segment, explanation: explanations[index] ?? null })),
  }
}

const buildMemberColumns = (ctx: Ctx, segment: LoadedSegment) => ({
  ...buildUserFields(viewCustomers(ctx.caller)),
  consent_status: selectConsentStatus(segment, sql`users.id`, ctx.now()),
})

export type SegmentUserRow = RowOf<ReturnType<typeof buildMemberColumns>>

/** Builds the conditions of a search among the members `m` with their `users`, in what the caller sees of them. */
async function buildMemberSearch(ctx: Ctx, segment: LoadedSegment, search: string, isMember: SQL): Promise<SQL[]> {
  const terms = listCustomerTerms(search)
  const isMatch = containsTerms(viewCustomers(ctx.caller).column('search_text'), terms)
  if (isShortSearch(terms)) {
    const newestMembers = sql`(select user_seq from segment_members m where ${isMember} order by user_seq desc limit ${maxNewest})`
    return [sql`m.user_seq in ${newestMembers}`, isMatch]
  }
  const candidates = await findCustomerCandidates(ctx, segment.organization_id, terms)
  return [...(candidates ? [inList(sql`m.user_seq`, candidates)] : []), isMatch]
}

/** Lists the members as the last calculation found them, with what the caller sees of them now. */
export async function listSegmentUsers(
  ctx: Ctx,
  page: PageRequest,
  { search, ordering }: SegmentUserQuery,
  segment: LoadedSegment,
): Promise<Page<SegmentUserRow>> {
  checkReady(segment)
  const view = viewCustomers(ctx.caller)
  const isMember = sql`m.segment_seq = ${segment.seq} and m.epoch = ${segment.members_epoch} and m.excluded_for is null`
  const needsCustomers = search !== undefined || ordering.length > 0
  return paginate(ctx.db, page, {
    from: needsCustomers
      ? sql`segment_members m cross join users on users.seq = m.user_seq ${view.join}`
      : sql`segment_members m`,
    where: [isMember, ...(search === undefined ? [] : await buildMemberSearch(ctx, segment, search, isMember))],
    orderBy: ordering.map(({ desc }) => ({ column: view.column('created_at'), desc })),
    id: sql`m.user_seq`,
    columns: buildMemberColumns(ctx, segment),
    joins: sql`join users on users.seq = page.id ${view.join}`,
    maxOffset: needsCustomers ? maxSortedOffset : maxIndexedOffset,
  })
}
