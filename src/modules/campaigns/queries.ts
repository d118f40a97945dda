import { and, eq, getTableColumns, isNull, or, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { containsFolded } from '../../db/search.ts'
import { buildOrderBy, buildPage, maxIndexedOffset, paginate } from '../../db/paginate.ts'
import { editions } from '../../db/schema/editions.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { segments } from '../../db/schema/segments.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { type RowOf, select } from '../../db/select.ts'
import { inList } from '../../db/conditions.ts'
import { seesOrganization, buildVisibility, isVisibleTo, isVisibleIn } from '../../db/visibility.ts'
import { viewCustomers } from '../../db/customers.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import type { RecipientRow, RecipientSearch } from '../../domain/campaigns/sender.ts'
import { getReach } from '../../domain/accounts/access.ts'
import { listCustomerTerms } from '../../db/search.ts'
import { findEditionCustomers } from '../users/index.ts'
import type { RecipientPerson } from '../../domain/campaigns/sending-policy.ts'
import { type Counters, zeroCounters } from '../../domain/campaigns/counters.ts'
import { doesNotExist, type FieldError, invalid, invalidCursor, notFound, parameterError } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import {
  type CampaignRow,
  isMessageInScope,
  type ReadinessColumns,
  readinessFields,
  selectCampaigns,
} from './delivery/campaign-row.ts'
import { segmentSummaryFields } from '../segments/index.ts'
import type { CampaignFilters, CampaignOrdering, RecipientQuery } from './contract.ts'

export type LoadedCampaign = CampaignRow & { tenant: Tenant }

const columns = getTableColumns(campaigns)
const listColumns = { ...columns, ...segmentSummaryFields, edition_timezone: editions.timezone }

export type CampaignListRow = RowOf<typeof listColumns>

const campaignVisibility = buildVisibility(sql`${campaigns.organization_id}`, sql`${campaigns.edition_id}`)
const segmentVisibility = buildVisibility(sql`${segments.organization_id}`, sql`${segments.edition_id}`)

export function listCampaigns(
  ctx: Ctx,
  page: PageRequest,
  ordering: CampaignOrdering,
  filters: CampaignFilters,
): Promise<Page<CampaignListRow>> {
  const { organization_id, edition_id, channel, status, search } = filters
  return paginate(ctx.db, page, {
    from: sql`${campaigns}`,
    id: sql`${columns.seq}`,
    where: [
      isVisibleIn(ctx.caller, campaignVisibility, filters),
      ...(organization_id ? [eq(columns.organization_id, organization_id)] : []),
      ...(edition_id ? [eq(columns.edition_id, edition_id)] : []),
      ...(channel ? [eq(columns.channel, channel)] : []),
      ...(status ? [eq(columns.status, status)] : []),
      ...(search ? [containsFolded(sql`${columns.search}`, search)] : []),
    ],
    orderBy: buildOrderBy(ordering, '-created', {
      created: sql`${columns.created_at}`,
      modified: sql`${columns.modified_at}`,
      name: sql`${columns.name_key}`,
      scheduled_at: { nullable: sql`${columns.scheduled_at}` },
      total_recipients: sql`${columns.total_recipients}`,
    }),
    columns: listColumns,
    joins: sql`join ${campaigns} on ${columns.seq} = page.id join ${segments} on ${segments.id} = ${columns.segment_id}
      join ${editions} on ${editions.id} = ${columns.edition_id}`,
  })
}

export async function findCampaign(ctx: Ctx, id: string): Promise<LoadedCampaign> {
  const row = await ctx.db.first(
    selectCampaigns().where(and(eq(columns.id, id), isVisibleTo(ctx.caller, campaignVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

interface ReferencedIds {
  organization_id: string
  edition_id: string
  segment_id: string
  email_message_id: string | null
}

/**
 * Loads the edition, segment and message of a campaign. A caller with a role in an edition does not find segments of
 * the whole organisation, which reach people of other editions.
 */
export async function loadReferences(ctx: Ctx, ids: ReferencedIds): Promise<ReadinessColumns> {
  const isReferenced = and(
    eq(segments.id, ids.segment_id),
    eq(segments.organization_id, organizations.id),
    or(isNull(segments.edition_id), eq(segments.edition_id, ids.edition_id)),
    isNull(segments.deleted_at),
    isVisibleTo(ctx.caller, segmentVisibility),
  )
  const row = await ctx.db.first(
    select({ edition: editions.id, ...readinessFields })
      .from(organizations)
      .leftJoin(editions, and(eq(editions.id, ids.edition_id), eq(editions.organization_id, organizations.id)))
      .leftJoin(segments, isReferenced)
      .leftJoin(emailMessages, isMessageInScope(sql`${ids.email_message_id}`, organizations.id, sql`${ids.edition_id}`))
      .where(eq(organizations.id, ids.organization_id)),
  )
  if (!row) throw doesNotExist('organization_id')
  const missing: FieldError[] = [
    ...(row.edition === null ? doesNotExist('edition_id').errors : []),
    ...(row.segment_id === null ? doesNotExist('segment_id').errors : []),
    ...(ids.email_message_id !== null && row.message_id === null ? doesNotExist('email_message_id').errors : []),
  ]
  if (missing.length) throw invalid(...missing)
  const { edition: _edition, ...references } = row
  // Nothing is missing, so no column of the edition or the segment is null.
  return references as ReadinessColumns
}

export interface CampaignCounters extends Counters {
  /** The pending recipients of a cancelled campaign are reported as cancelled. */
  is_cancelled: boolean
}

/** Reads the counters of the campaign's Durable Object, which a draft does not have yet. */
export async function loadCounters(ctx: Ctx, campaign: CampaignRow): Promise<CampaignCounters> {
  const counters = campaign.run === 0 ? null : await ctx.senders.get(campaign.id).readSnapshot()
  return { ...(counters ?? zeroCounters), is_cancelled: campaign.status === 'cancelled' }
}

export type ListedRecipient = RecipientRow & { is_cancelled: boolean }

const emptyContact = { email: null, phone_number: null, first_name: '', last_name: '' }

/**
 * Replaces the contacts of recipients by those that the caller's editions know. A campaign goes to the address that the
 * organisation has of a customer, which an edition may not know. The provider's answer may quote that address.
 */
async function replaceContacts(
  ctx: Ctx,
  campaign: CampaignRow,
  rows: readonly RecipientRow[],
): Promise<RecipientRow[]> {
  if (seesOrganization(ctx.caller, campaign.organization_id) || rows.length === 0) return [...rows]
  const customers = viewCustomers(ctx.caller)
  const ids = rows.map(({ user_id }) => user_id)
  const people = await ctx.db.all(sql<RecipientPerson>`select users.id,
      ${customers.columns(['email', 'phone_number', 'first_name', 'last_name'])}
    from users ${customers.join} where ${inList(sql`users.id`, ids)}`)
  const peopleById = new Map(people.map((person) => [person.id, person]))
  return rows.map((row) => {
    const person = peopleById.get(row.user_id) ?? { ...emptyContact, id: row.user_id }
    const address = campaign.channel === 'email' ? person.email : person.phone_number
    const detail = address === row.address ? row.detail : ''
    return { ...row, address, person: JSON.stringify(person), detail }
  })
}

/** Sorting by address would reveal addresses that only the organisation knows. */
function checkOrdering(ctx: Ctx, campaign: CampaignRow, ordering: RecipientQuery['ordering']): void {
  if (!ordering.some(({ name }) => name === 'address')) return
  if (seesOrganization(ctx.caller, campaign.organization_id)) return
  throw invalid(
    parameterError('ordering', 'invalid_choice', 'Only members with a role in the organisation may sort by `address`.'),
  )
}

/** An edition role finds recipients by what its editions know of them, because other texts would reveal more. */
async function buildSearch(ctx: Ctx, { organization_id }: CampaignRow, text: string): Promise<RecipientSearch> {
  const reach = getReach(ctx.caller)
  if (reach.all || reach.organizations.includes(organization_id))
    return { user_id: text, terms: listCustomerTerms(text) }
  const editionIds = [...new Set(reach.editions.flatMap(({ edition_id }) => edition_id ?? []))]
  const numbers = await findEditionCustomers(ctx, editionIds, text)
  if (numbers) return { user_id: text, numbers }
  const detail = 'More than 10,000 customers match. Search for more letters.'
  throw invalid(parameterError('search', 'too_many_matches', detail))
}

export async function listRecipients(
  ctx: Ctx,
  campaign: CampaignRow,
  page: PageRequest,
  { ordering, search, state, reason, engagement }: RecipientQuery,
): Promise<Page<ListedRecipient>> {
  checkOrdering(ctx, campaign, ordering)
  const keyCount = ordering.length + 1
  if (page.after && page.after.length !== keyCount) throw invalidCursor()
  const isCancelled = campaign.status === 'cancelled'
  // Recipients whom a cancelled campaign did not reach stay pending in its object.
  const isImpossible = state !== undefined && (isCancelled ? state === 'pending' : state === 'cancelled')
  const selected =
    campaign.run === 0 || isImpossible
      ? { rows: [], count: 0, maxOffset: maxIndexedOffset }
      : await ctx.senders.get(campaign.id).listRecipients({
          search: search ? await buildSearch(ctx, campaign, search) : undefined,
          state: state === 'cancelled' ? 'pending' : state,
          reason,
          engagement,
          ordering,
          page,
        })
  const recipients = buildPage<RecipientRow>(page, { ...selected, keyCount })
  const visibleRows = await replaceContacts(ctx, campaign, recipients.rows)
  const rows = visibleRows.map((row) => ({ ...row, is_cancelled: isCancelled && row.state === 'pending' }))
  return { ...recipients, rows }
}
