import { and, eq, getTableColumns, isNull, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList, inWords } from '../../db/conditions.ts'
import type { StoredSegmentRow } from '../../db/rows.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { segments } from '../../db/schema/segments.ts'
import { select, type Nullable } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { selectWork, type WorkCount } from '../../db/work-counts.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { AppError, maxRelatedObjects, notFound } from '../../domain/errors.ts'
import { campaignStatusesInNeed, quietAfterMs, type SegmentStatus } from '../../domain/segments.ts'
import { type EditionSummaryRow, editionSummaryFields } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryFields } from '../organizations/index.ts'

export { findUser } from '../users/index.ts'

type Summaries = Omit<OrganizationSummaryRow, 'organization_id'> & Omit<Nullable<EditionSummaryRow>, 'edition_id'>

export interface SegmentRow extends StoredSegmentRow, Summaries {
  campaigns_count: number
}

export type LoadedSegment = SegmentRow & { tenant: Tenant }

export const segmentVisibility = buildVisibility(sql`${segments.organization_id}`, sql`${segments.edition_id}`)

/**
 * The segment's columns come last, because the summary columns of a missing edition would overwrite its ids with null.
 */
export const segmentColumns = {
  ...organizationSummaryFields,
  ...editionSummaryFields,
  ...getTableColumns(segments),
  campaigns_count: sql<number>`(select count(*) from campaigns where campaigns.segment_id = ${segments.id})`,
}

const buildTenant = ({
  organization_id,
  edition_id,
}: Pick<StoredSegmentRow, 'organization_id' | 'edition_id'>): Tenant => ({
  organization_id,
  editions: edition_id === null ? [] : [edition_id],
})

export async function findSegment(ctx: Ctx, id: string): Promise<LoadedSegment> {
  const row = await ctx.db.first(
    select(segmentColumns)
      .from(segments)
      .innerJoin(organizations, eq(organizations.id, segments.organization_id))
      .leftJoin(editions, eq(editions.id, segments.edition_id))
      .where(and(eq(segments.id, id), isNull(segments.deleted_at), isVisibleTo(ctx.caller, segmentVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: buildTenant(row) }
}

/** Refuses to read the members of a segment that has none, or whose members are about to be replaced. */
export function checkReady({ status }: LoadedSegment): void {
  if (status === 'ready') return
  throw new AppError('segment_not_ready', 'You can only read the members of a segment with the status `ready`.', {
    extra: { current_status: status },
  })
}

/** Loads what a response shows of the organisation and edition of a new or moved segment. */
export async function loadSummaries(
  ctx: Ctx,
  tenant: Pick<StoredSegmentRow, 'organization_id' | 'edition_id'>,
): Promise<Summaries | undefined> {
  const row = await ctx.db.first(
    select({ ...organizationSummaryFields, ...editionSummaryFields })
      .from(organizations)
      .leftJoin(editions, and(eq(editions.id, tenant.edition_id ?? ''), eq(editions.organization_id, organizations.id)))
      .where(eq(organizations.id, tenant.organization_id)),
  )
  if (!row) return undefined
  const { organization_id: _organization, edition_id: _edition, ...summaries } = row
  return summaries
}

export interface RelatedCampaign {
  type: 'campaign'
  id: string
  name: string
}

export const selectCampaignsUsing = (segmentId: string): SQL<RelatedCampaign> =>
  sql<RelatedCampaign>`select 'campaign' as type, id, name from campaigns where segment_id = ${segmentId}
    and ${inList(sql`status`, campaignStatusesInNeed)} order by created_at limit ${maxRelatedObjects}`

export const selectCalculationWork = (now: number): SQL<WorkCount> =>
  selectWork(now - quietAfterMs, {
    kind: 'segment_calculations',
    from: sql`segments indexed by segments_calculating`,
    where: inWords(sql`status`, ['calculating'] satisfies SegmentStatus[]),
    dueAt: sql`heartbeat_at`,
  })
