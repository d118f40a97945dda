import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { inEditions } from '../../db/customers.ts'
import { buildOrderBy, maxSortedOffset, paginate } from '../../db/paginate.ts'
import { getActingReach, seesOrganization } from '../../db/visibility.ts'
import type { Language } from '../../domain/languages.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { OrderBy } from '../../domain/page.ts'
import type { LoadedOrder } from '../orders/index.ts'
import { isSignupEmail } from '../signup-forms/index.ts'
import type { LoadedUser } from '../users/index.ts'
import type { ActivityQuery, MessageQuery, UserMessageKind } from './contract.ts'
import {
  type ActivityDetail,
  buildCampaignSources,
  buildConsentSource,
  buildEmailSource,
  buildImportSource,
  buildOrderEmailSources,
  buildOrderSources,
  buildPassSources,
  buildRefundSources,
  buildUseSources,
  campaignMessageAt,
  campaignsOfUser,
  emailOrderId,
  selectDetail,
  selectNewest,
  selectRows,
  type Rows,
  type Source,
  unionSources,
} from './sources.ts'

interface EntryRow<Detail> {
  id: string
  occurred_at: number
  detail: Detail
}

/** One page of what the sources have, by time. Only the rows of the page are read whole. */
async function listEntries<Detail>(
  ctx: Ctx,
  page: PageRequest,
  ordering: readonly OrderBy<'created'>[],
  sources: readonly Source[],
): Promise<Page<EntryRow<Detail>>> {
  return paginate(ctx.db, page, {
    from: unionSources(sources),
    where: [],
    orderBy: buildOrderBy(ordering, '-created', { created: sql`entry.occurred_at` }),
    id: sql`entry.id`,
    columns: {
      id: sql<string>`page.id`,
      occurred_at: sql<number>`page.k0`,
      detail: selectDetail<Detail>(sources, sql`page.id`),
    },
    joins: sql`join (select 1)`,
    maxOffset: maxSortedOffset,
  })
}

export type ActivityRow = EntryRow<ActivityDetail>

export const listOrderActivity = (
  ctx: Ctx,
  page: PageRequest,
  { ordering }: ActivityQuery,
  { id }: LoadedOrder,
): Promise<Page<ActivityRow>> =>
  listEntries(ctx, page, ordering, [
    ...buildOrderSources(selectRows('orders', sql`orders.id = ${id}`)),
    buildImportSource(id),
    ...buildUseSources(selectRows('purchases', sql`purchases.order_id = ${id}`)),
    ...buildRefundSources(selectRows('refund_requests', sql`refund_requests.order_id = ${id}`)),
    ...buildPassSources(selectRows('purchases', sql`purchases.order_id = ${id}`)),
    ...buildOrderEmailSources(id),
  ])

/** Builds the condition for rows of editions that the caller reaches. An organisation role sees rows without one, too. */
function limitToReach({ caller }: Ctx, { organization_id }: LoadedUser): (edition: SQL) => SQL {
  if (seesOrganization(caller, organization_id)) return () => sql`1`
  const reach = getActingReach(caller)
  const grants = reach.all ? [] : reach.editions
  const editionIds = grants
    .filter((grant) => grant.organization_id === organization_id)
    .flatMap(({ edition_id }) => edition_id ?? [])
  return (edition) => inEditions(edition, [...new Set(editionIds)])
}

const selectNewestEmails = ({ id }: LoadedUser, isReached: (edition: SQL) => SQL) =>
  selectNewest(
    'transactional_emails',
    sql`transactional_emails.user_id = ${id} and ${isReached(sql`transactional_emails.edition_id`)}`,
    sql`id`,
  )

/** E-mails of sign-ups belong to an address. An edition role sees those to the address that the edition of the form has. */
function selectSignupEmails(ctx: Ctx, user: LoadedUser, isReached: (edition: SQL) => SQL) {
  const { id, seq, organization_id } = user
  const isToCustomer = (recipient: SQL): SQL =>
    seesOrganization(ctx.caller, organization_id)
      ? sql`${recipient} in (select email from users where users.id = ${id}
          union select email from edition_customers where user_seq = ${seq}
          union select address from earlier_addresses where earlier_addresses.user_id = ${id})`
      : sql`${recipient} in (select email from edition_customers where user_seq = ${seq})
          and (${recipient}, transactional_emails.edition_id) in (select email, edition_customers.edition_id
            from edition_customers where user_seq = ${seq} and ${isReached(sql`edition_customers.edition_id`)})`
  return selectNewest('transactional_emails', isSignupEmail(organization_id, isToCustomer), sql`id`)
}

export function listUserActivity(
  ctx: Ctx,
  page: PageRequest,
  { ordering }: ActivityQuery,
  user: LoadedUser,
): Promise<Page<ActivityRow>> {
  const isReached = limitToReach(ctx, user)
  const { id } = user
  const isOfUser = (table: string) =>
    sql`${sql.raw(table)}.user_id = ${id} and ${isReached(sql`${sql.raw(table)}.edition_id`)}`
  return listEntries(ctx, page, ordering, [
    ...buildOrderSources(selectNewest('orders', isOfUser('orders'), sql`created_at`)),
    ...buildUseSources(selectNewest('purchases', isOfUser('purchases'), sql`product_id`)),
    ...buildRefundSources(selectNewest('refund_requests', isOfUser('refund_requests'), sql`id`)),
    buildConsentSource(id, isReached(sql`consent_records.edition_id`)),
    buildEmailSource(selectNewestEmails(user, isReached)),
    buildEmailSource(selectSignupEmails(ctx, user, isReached)),
    ...buildCampaignSources(id, isReached(sql`campaigns.edition_id`)),
  ])
}

export interface MessageDetail {
  channel: Channel
  kind: UserMessageKind
  edition_id: string | null
  order_id: string | null
  name: string
  recipient: string | null
  language: Language | null
  status: 'pending' | 'sent' | 'failed' | 'skipped'
  reason: string | null
  sent_at: number | null
  opened_at: number | null
  clicked_at: number | null
  bounced_at: number | null
  complained_at: number | null
  unsubscribed_at: number | null
}

export type MessageRow = EntryRow<MessageDetail>

/** The address of an e-mail. An edition role sees it if the edition of the e-mail knows the customer by it. */
const selectRecipient = (ctx: Ctx, { organization_id, seq }: LoadedUser): SQL =>
  seesOrganization(ctx.caller, organization_id)
    ? sql`nullif(transactional_emails.recipient, '')`
    : sql`(select edition_customers.email from edition_customers where edition_customers.user_seq = ${seq}
        and edition_customers.edition_id = transactional_emails.edition_id
        and edition_customers.email = transactional_emails.recipient)`

const buildEmailMessages = (ctx: Ctx, user: LoadedUser, rows: Rows): Source => ({
  ...buildEmailSource(rows),
  selectDetail: (key) => sql`(select json_object('channel', 'email', 'kind', kind, 'edition_id', edition_id,
      'order_id', ${emailOrderId}, 'name', '', 'recipient', ${selectRecipient(ctx, user)}, 'language', language,
      'status', status, 'reason', error_code, 'sent_at', sent_at)
    from transactional_emails where id = ${key})`,
})

const buildCampaignMessages = ({ id }: LoadedUser, isIncluded: SQL): Source => ({
  kind: 'campaign',
  from: campaignsOfUser,
  where: [sql`campaign_receipts.user_id = ${id}`, isIncluded],
  at: campaignMessageAt,
  key: sql`campaign_receipts.campaign_id`,
  selectDetail: (key) => sql`(select json_object('channel', campaigns.channel, 'kind', 'campaign',
      'edition_id', campaigns.edition_id, 'name', campaigns.name, 'status', state, 'reason', reason,
      'sent_at', received_at, 'opened_at', opened_at, 'clicked_at', clicked_at, 'bounced_at', bounced_at,
      'complained_at', complained_at, 'unsubscribed_at', unsubscribed_at)
    from ${campaignsOfUser} where campaign_receipts.user_id = ${id} and campaign_receipts.campaign_id = ${key})`,
})

export function listUserMessages(
  ctx: Ctx,
  page: PageRequest,
  { ordering, channel }: MessageQuery,
  user: LoadedUser,
): Promise<Page<MessageRow>> {
  const isReached = limitToReach(ctx, user)
  const isInChannel = channel === undefined ? sql`1` : sql`campaigns.channel = ${channel}`
  return listEntries(ctx, page, ordering, [
    buildCampaignMessages(user, sql`${isReached(sql`campaigns.edition_id`)} and ${isInChannel}`),
    ...(channel === 'sms'
      ? []
      : [
          buildEmailMessages(ctx, user, selectNewestEmails(user, isReached)),
          buildEmailMessages(ctx, user, selectSignupEmails(ctx, user, isReached)),
        ]),
  ])
}
