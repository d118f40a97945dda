import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/contains.ts'
import { nullable, paginate, type SortKey } from '../../db/paginate.ts'
import { inList, visibilityOf, visible, visibleIn } from '../../db/visibility.ts'
import { customersSeenBy } from '../../db/shared-customers.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import type { RecipientRow } from '../../domain/campaigns/sender.ts'
import type { RecipientPerson } from '../../domain/campaigns/sending-policy.ts'
import { type Counters, noCounters } from '../../domain/campaigns/counters.ts'
import { AppError, doesNotExist, type FieldError, invalid, notFound, parameterError } from '../../domain/errors.ts'
import { type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import {
  type CampaignRow,
  messageJoin,
  readinessColumns,
  readinessJoins,
  type ReadinessColumns,
} from './delivery/campaign-row.ts'
import { type SegmentSummaryRow, segmentSummaryColumns } from '../segments/index.ts'
import type { CampaignFilters, CampaignOrdering, RecipientFilters, RecipientOrdering } from './contract.ts'
import type { Nullable } from '../../domain/nullable.ts'

export type CampaignDetailRow = CampaignRow & SegmentSummaryRow
export type LoadedCampaign = CampaignDetailRow & { tenant: Tenant }

const campaignVisibility = visibilityOf(sql`campaigns.organization_id`, sql`campaigns.edition_id`)

export function listCampaigns(
  ctx: Ctx,
  page: PageRequest,
  ordering: CampaignOrdering,
  filters: CampaignFilters,
): Promise<Page<CampaignDetailRow>> {
  const { organization_id, edition_id, channel, status, search } = filters
  return paginate<CampaignDetailRow>(ctx.db, page, {
    from: sql`campaigns`,
    key: sql`seq`,
    where: [
      visibleIn(ctx.caller, campaignVisibility, filters),
      ...(organization_id ? [sql`organization_id = ${organization_id}`] : []),
      ...(edition_id ? [sql`edition_id = ${edition_id}`] : []),
      ...(channel ? [sql`channel = ${channel}`] : []),
      ...(status ? [sql`status = ${status}`] : []),
      ...(search ? [containsFolded(sql`search`, search)] : []),
    ],
    sort: sortBy<CampaignOrdering[number]['name'], SortKey['by']>(ordering, '-created', {
      created: sql`created_at`,
      modified: sql`modified_at`,
      name: sql`name`,
      scheduled_at: nullable(sql`scheduled_at`),
      total_recipients: sql`total_recipients`,
    }),
    columns: sql`campaigns.*, ${segmentSummaryColumns}, editions.timezone as edition_timezone`,
    joins: sql`join campaigns on campaigns.seq = page.key join segments on segments.id = campaigns.segment_id
      join editions on editions.id = campaigns.edition_id`,
  })
}

export async function findCampaign(ctx: Ctx, id: string): Promise<LoadedCampaign> {
  const row = await ctx.db.first(
    sql<CampaignDetailRow>`select campaigns.*, ${segmentSummaryColumns}, ${readinessColumns}
      from campaigns ${readinessJoins} where campaigns.id = ${id} and ${visible(ctx.caller, campaignVisibility)}`,
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

interface References {
  organization_id: string
  edition_id: string
  segment_id: string
  email_message_id: string | null
}

export type ReferencedRow = ReadinessColumns & SegmentSummaryRow

/**
 * The edition, segment and message of a campaign, in one statement. Only segments that the caller may see are found: one
 * of the whole organisation reaches people whom a role of an edition does not.
 */
export async function resolveReferences(ctx: Ctx, ids: References): Promise<ReferencedRow> {
  const row = await ctx.db.first(sql<Nullable<ReferencedRow> & { edition: string | null }>`
    select editions.id as edition, ${segmentSummaryColumns}, ${readinessColumns}
    from organizations
      left join editions on editions.id = ${ids.edition_id} and editions.organization_id = organizations.id
      left join segments on segments.id = ${ids.segment_id} and segments.organization_id = organizations.id
        and (segments.edition_id is null or segments.edition_id = ${ids.edition_id}) and segments.deleted_at is null
        and ${visible(ctx.caller, visibilityOf(sql`segments.organization_id`, sql`segments.edition_id`))}
      ${messageJoin(sql`${ids.email_message_id}`, sql`organizations.id`, sql`${ids.edition_id}`)}
    where organizations.id = ${ids.organization_id}`)
  if (!row) throw doesNotExist('organization_id')
  const missing: FieldError[] = [
    ...(row.edition === null ? doesNotExist('edition_id').errors : []),
    ...(row.segment_id === null ? doesNotExist('segment_id').errors : []),
    ...(ids.email_message_id !== null && row.message_id === null ? doesNotExist('email_message_id').errors : []),
  ]
  if (missing.length) throw invalid(...missing)
  const { edition: _edition, ...found } = row
  return found as ReferencedRow
}

export interface CampaignNumbers extends Counters {
  /** Pending recipients of a cancelled campaign are not tried any more. */
  is_cancelled: boolean
}

/** The counters of the campaign's object; a draft has no object yet. */
export async function countersOf(ctx: Ctx, campaign: CampaignRow): Promise<CampaignNumbers> {
  const counters = campaign.run === 0 ? null : await ctx.senders.of(campaign.id).snapshot()
  return { ...(counters ?? noCounters), is_cancelled: campaign.status === 'cancelled' }
}

export type ListedRecipient = RecipientRow & { is_cancelled: boolean }

/**
 * Hides the contact of recipients who belong only to other editions. A provider's answer may contain the address too.
 */
async function withoutHidden(ctx: Ctx, campaign: CampaignRow, rows: readonly RecipientRow[]): Promise<RecipientRow[]> {
  const view = customersSeenBy(ctx.caller)
  if (view.isWhole || rows.length === 0) return [...rows]
  const ids = rows.map(({ user_id }) => user_id)
  const found = await ctx.db.all(sql<RecipientPerson>`select users.id,
      ${view.columns(['email', 'phone_number', 'first_name', 'last_name'])}
    from users ${view.join} where ${inList(sql`users.id`, ids)} and ${view.isHidden}`)
  const hidden = new Map(found.map((person) => [person.id, person]))
  return rows.map((row) => {
    const person = hidden.get(row.user_id)
    if (!person) return row
    const address = (campaign.channel === 'email' ? person.email : person.phone_number) ?? ''
    return { ...row, address, person: JSON.stringify(person), detail: '' }
  })
}

/** Sorting by address would reveal hidden addresses. */
function judgeOrdering(ctx: Ctx, ordering: RecipientOrdering): void {
  if (!ordering.some(({ name }) => name === 'address') || customersSeenBy(ctx.caller).isWhole) return
  throw invalid(parameterError('ordering', 'invalid_choice', 'Only roles of the organisation may order by address.'))
}

export async function listRecipients(
  ctx: Ctx,
  campaign: CampaignRow,
  page: PageRequest,
  { ordering, state, reason, engagement }: RecipientFilters & { ordering: RecipientOrdering },
): Promise<Page<ListedRecipient>> {
  judgeOrdering(ctx, ordering)
  const isCancelled = campaign.status === 'cancelled'
  // Recipients whom a cancelled campaign did not reach stay pending in its object.
  const isNever = state !== undefined && (isCancelled ? state === 'pending' : state === 'cancelled')
  const after = page.after
  const skipped = (page.page - 1) * page.size
  const found =
    campaign.run === 0 || isNever
      ? { rows: [], count: 0, after: null }
      : await ctx.senders.of(campaign.id).recipients({
          state: state === 'cancelled' ? 'pending' : state,
          reason,
          engagement,
          sort: ordering.map(({ name, desc }) => ({ by: name, desc })),
          size: page.size,
          skipped,
          after,
        })
  if (page.page > 1 && !after && skipped >= found.count) throw new AppError('invalid_page', 'Invalid page.')
  const shown = await withoutHidden(ctx, campaign, found.rows)
  const rows = shown.map((row) => ({ ...row, is_cancelled: isCancelled && row.state === 'pending' }))
  return { rows, count: found.count, page: page.page, size: page.size, after: found.after }
}
