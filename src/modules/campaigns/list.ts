import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { selectFormerIds, viewCustomers } from '../../db/customers.ts'
import { buildConditions, contains, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, buildPage, maxIndexedOffset, paginate } from '../../db/paginate.ts'
import { campaigns } from '../../db/schema/campaigns.ts'
import { editions } from '../../db/schema/editions.ts'
import { segments } from '../../db/schema/segments.ts'
import { listCustomerTerms } from '../../db/search.ts'
import { seesOrganization, isVisibleIn } from '../../db/visibility.ts'
import { getReach } from '../../domain/accounts/access.ts'
import type { RecipientRow, RecipientSearch } from '../../domain/campaigns/sender.ts'
import type { RecipientPerson } from '../../domain/campaigns/sending-policy.ts'
import { invalid, invalidCursor, parameterError } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { findEditionCustomers } from '../users/index.ts'
import type { CampaignQuery, RecipientQuery } from './contract.ts'
import type { CampaignRow } from './delivery/campaign-row.ts'
import { campaignListColumns, type CampaignListRow, campaignVisibility, type LoadedCampaign } from './queries.ts'

const filters: FilterTable<CampaignQuery> = {
  organization_id: equals(campaigns.organization_id),
  edition_id: equals(campaigns.edition_id),
  channel: equals(campaigns.channel),
  status: equals(campaigns.status),
  is_paused: (isPaused) => sql`(${campaigns.paused_at} is not null) = ${Number(isPaused)}`,
  segment_id: equals(campaigns.segment_id),
  email_message_id: equals(campaigns.email_message_id),
  search: contains(campaigns.search),
}

const sortColumns = {
  created: sql`${campaigns.created_at}`,
  modified: sql`${campaigns.modified_at}`,
  name: sql`${campaigns.name_key}`,
  scheduled_at: { nullable: sql`${campaigns.scheduled_at}` },
  total_recipients: sql`${campaigns.total_recipients}`,
}

export const listCampaigns = (ctx: Ctx, page: PageRequest, query: CampaignQuery): Promise<Page<CampaignListRow>> =>
  paginate(ctx.db, page, {
    from: sql`${campaigns}`,
    where: [isVisibleIn(ctx.caller, campaignVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${campaigns.seq}`,
    columns: campaignListColumns,
    joins: sql`join ${campaigns} on ${campaigns.seq} = page.id join ${segments} on ${segments.id} = ${campaigns.segment_id}
      join ${editions} on ${editions.id} = ${campaigns.edition_id}`,
  })

/** A recipient with the id of the customer today, into whom the recipient may have been merged. */
type PresentRecipient = RecipientRow & { present_id: string }

export type ListedRecipient = PresentRecipient & { is_cancelled: boolean }

async function findPresentIds(ctx: Ctx, rows: readonly RecipientRow[]): Promise<PresentRecipient[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ user_id }) => user_id)
  const merges = await ctx.db.all(
    sql<{ id: string; into_id: string }>`select id, into_id from user_merges where ${inList(sql`id`, ids)}`,
  )
  const presentIds = new Map(merges.map(({ id, into_id }) => [id, into_id]))
  return rows.map((row) => ({ ...row, present_id: presentIds.get(row.user_id) ?? row.user_id }))
}

const emptyContact = { email: null, phone_number: null, first_name: '', last_name: '' }

/**
 * Replaces the contacts of recipients by those that the caller's editions know. A campaign goes to the address that the
 * organisation has of a customer, which an edition may not know. The provider's answer may quote that address.
 */
async function replaceContacts(
  ctx: Ctx,
  campaign: CampaignRow,
  rows: readonly PresentRecipient[],
): Promise<PresentRecipient[]> {
  if (seesOrganization(ctx.caller, campaign.organization_id) || rows.length === 0) return [...rows]
  const customers = viewCustomers(ctx.caller)
  const ids = rows.map(({ present_id }) => present_id)
  const people = await ctx.db.all(sql<RecipientPerson>`select users.id,
      ${customers.columns(['email', 'phone_number', 'first_name', 'last_name'])}
    from users ${customers.join} where ${inList(sql`users.id`, ids)}`)
  const peopleById = new Map(people.map((person) => [person.id, person]))
  return rows.map((row) => {
    const person = peopleById.get(row.present_id) ?? { ...emptyContact, id: row.present_id }
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

/** The numbers of customers who were merged into these. */
async function listMergedNumbers(
  { db }: Ctx,
  organizationId: string,
  numbers: readonly number[],
): Promise<readonly number[]> {
  const rows = await db.all(sql<{ seq: number }>`select user_merges.seq from user_merges
    join users on users.id = into_id where user_merges.organization_id = ${organizationId}
      and ${inList(sql`users.seq`, numbers)}`)
  return rows.map(({ seq }) => seq)
}

/** An edition role finds recipients by what its editions know of them, because other texts would reveal more. */
async function buildSearch(ctx: Ctx, { organization_id }: CampaignRow, text: string): Promise<RecipientSearch> {
  const ids = await ctx.db.all(sql<{ value: string }>`select value from ${selectFormerIds(text)}`)
  const user_ids = ids.map(({ value }) => value)
  const reach = getReach(ctx.caller)
  if (reach.all || reach.organizations.includes(organization_id)) return { user_ids, terms: listCustomerTerms(text) }
  const editionIds = [...new Set(reach.editions.flatMap(({ edition_id }) => edition_id ?? []))]
  const numbers = await findEditionCustomers(ctx, editionIds, text)
  if (numbers) return { user_ids, numbers: [...numbers, ...(await listMergedNumbers(ctx, organization_id, numbers))] }
  const detail = 'More than 10,000 customers match. Search for more letters.'
  throw invalid(parameterError('search', 'too_many_matches', detail))
}

export async function listCampaignRecipients(
  ctx: Ctx,
  page: PageRequest,
  { ordering, search, state, reason, engagement, link }: RecipientQuery,
  campaign: LoadedCampaign,
): Promise<Page<ListedRecipient>> {
  checkOrdering(ctx, campaign, ordering)
  const keyCount = ordering.length + 1
  if (page.after && page.after.length !== keyCount) throw invalidCursor()
  const isCancelled = campaign.status === 'cancelled'
  // Recipients whom a cancelled campaign did not reach stay pending in its object.
  const isImpossible = state !== undefined && (isCancelled ? state === 'pending' : state === 'cancelled')
  const selectedFields = isImpossible
    ? { rows: [], count: 0, maxOffset: maxIndexedOffset }
    : await ctx.senders.get(campaign.id).listRecipients({
        search: search ? await buildSearch(ctx, campaign, search) : undefined,
        state: state === 'cancelled' ? 'pending' : state,
        reason,
        engagement,
        link,
        ordering,
        page,
      })
  const recipients = buildPage<RecipientRow>(page, { ...selectedFields, keyCount })
  const visibleRows = await replaceContacts(ctx, campaign, await findPresentIds(ctx, recipients.rows))
  const rows = visibleRows.map((row) => ({ ...row, is_cancelled: isCancelled && row.state === 'pending' }))
  return { ...recipients, rows }
}
