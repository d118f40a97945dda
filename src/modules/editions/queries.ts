import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/search.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { editions, events } from '../../db/schema/editions.ts'
import { files } from '../../db/schema/files.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { editionVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { openEndedMs } from '../../domain/editions/editions.ts'
import { notFound } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { type OrganizationSummaryRow, organizationSummaryFields } from '../organizations/index.ts'
import type { EditionFilters, EditionOrdering } from './contract.ts'

export type EditionRow = typeof editions.$inferSelect
export type EditionListRow = EditionRow & OrganizationSummaryRow
/** `image_key` is the access key of the meta image, or null. */
export type EditionDetailRow = EditionListRow & { event_name: string; image_key: string | null }

const columns = { ...getTableColumns(editions), ...organizationSummaryFields }

/** `getEditionStatus` as SQL. */
export const buildStatus = (now: number): SQL<{ status: string }> => sql`case
  when editions.start_at is null and editions.end_at is null then 'no_dates'
  when editions.start_at > ${now} then 'upcoming'
  when coalesce(editions.end_at, editions.start_at + ${openEndedMs}) < ${now} then 'past'
  else 'current' end`

export function listEditions(
  ctx: Ctx,
  page: PageRequest,
  ordering: EditionOrdering,
  filters: EditionFilters,
): Promise<Page<EditionListRow>> {
  const { organization_id, event_id, is_draft, is_archived = false, status, search } = filters
  return paginate(ctx.db, page, {
    from: sql`${editions}`,
    id: sql`${editions.id}`,
    where: [
      isVisibleTo(ctx.caller, editionVisibility),
      ...(organization_id ? [eq(editions.organization_id, organization_id)] : []),
      ...(event_id ? [eq(editions.event_id, event_id)] : []),
      eq(editions.is_archived, is_archived),
      ...(is_draft === undefined ? [] : [eq(editions.is_draft, is_draft)]),
      ...(status ? [sql`${buildStatus(ctx.now())} = ${status}`] : []),
      ...(search ? [containsFolded(sql`${editions.search}`, search)] : []),
    ],
    orderBy: buildOrderBy(ordering, '-created', {
      created: sql`${editions.created_at}`,
      modified: sql`${editions.modified_at}`,
      start_date: { nullable: sql`${editions.start_at}` },
      end_date: { nullable: sql`${editions.end_at}` },
      name: sql`${editions.name_key}`,
    }),
    columns,
    joins: sql`join ${editions} on ${editions.id} = page.id
      join ${organizations} on ${organizations.id} = ${editions.organization_id}`,
  })
}

export async function findEdition(ctx: Ctx, id: string): Promise<EditionDetailRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select({ ...columns, event_name: events.name, image_key: files.access_key })
      .from(editions)
      .innerJoin(organizations, eq(organizations.id, editions.organization_id))
      .innerJoin(events, eq(events.id, editions.event_id))
      .leftJoin(files, eq(files.id, editions.meta_image_id))
      .where(and(eq(editions.id, id), isVisibleTo(ctx.caller, editionVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.id] } }
}
