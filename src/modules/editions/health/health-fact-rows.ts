import { type SQL, sql } from 'drizzle-orm'
import { isOfferedIn } from '../../../db/consents.ts'
import { inList } from '../../../db/visibility.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import { workingStatuses } from '../../../domain/refunds/refund-batches.ts'
import { isVerifiedSender } from '../../sender-domains/index.ts'
import type { EditionRow } from '../queries.ts'

/** What the health of an edition is judged by: few statements, each bounded by what the edition owns. */

export interface Facts {
  has_event: number
  merchant_account: string | null
  fee_rule: string | null
  order_currencies: string
  has_pickup_point: number
  has_sms_campaign: number
  is_sender_verified: number
  has_marketing_segment: number
  has_stuck_refund: number
  has_stalled_refund_batch: number
}

/** The oldest and the newest orders are a sample: an edition may have a hundred thousand. */
const ordersLookedAt = 50

const ordersOf = (editionId: string, direction: 'asc' | 'desc') => sql`select currency from (select currency from orders
  where edition_id = ${editionId} order by created_at ${sql.raw(direction)} limit ${ordersLookedAt})`

/** A batch takes a step every few seconds, and the sweep of each minute calls it again. */
const stalledBatchMs = 3_600_000

export const factsOf = ({ id, organization_id, ...edition }: EditionRow, now: number): SQL<Facts> => sql<Facts>`select
  exists (select 1 from events where id = ${edition.event_id} and organization_id = ${organization_id}) as has_event,
  (select json_object('type', type, 'is_active', is_active, 'supported_currencies', json(supported_currencies),
      'sealed_with', case when sealed_api_key is null then null else sealed_with end) from merchant_accounts
    where id = ${edition.merchant_account_id} and organization_id = ${organization_id}) as merchant_account,
  (select json_object('is_active', is_active, 'currency', currency) from fee_rules
    where id = ${edition.fee_rule_id} and organization_id = ${organization_id}) as fee_rule,
  (select json_group_array(distinct currency) from
    (${ordersOf(id, 'asc')} union ${ordersOf(id, 'desc')})) as order_currencies,
  exists (select 1 from locations where edition_id = ${id} and is_draft = 0) as has_pickup_point,
  exists (select 1 from campaigns
    where organization_id = ${organization_id} and edition_id = ${id} and channel = 'sms') as has_sms_campaign,
  ${isVerifiedSender(sql`${organization_id}`, sql`${edition.email_sender_address}`)} as is_sender_verified,
  exists (select 1 from segments where organization_id = ${organization_id} and deleted_at is null and communication_type = 'marketing'
    and (edition_id = ${id} or exists (select 1 from campaigns
      where segment_id = segments.id and campaigns.edition_id = ${id}))) as has_marketing_segment,
  exists (select 1 from refund_requests where edition_id = ${id} and needs_attention = 1) as has_stuck_refund,
  exists (select 1 from refund_batches where edition_id = ${id} and modified_at < ${now - stalledBatchMs}
    and ${inList(sql`status`, workingStatuses)}) as has_stalled_refund_batch`

export interface ProductFactRow {
  id: string
  name: string
  is_draft: number
  name_translations: string
  category_id: string | null
  price_minor: number | null
  deposit_minor: number | null
  is_variant_required: number
  is_pickup_required: number
  is_wallet_enabled: number
  has_active_variant: number
  has_pass_design: number
}

export const productsOf = ({
  id,
}: EditionRow): SQL<ProductFactRow> => sql<ProductFactRow>`select id, name, is_draft, name_translations,
    category_id, price_minor, deposit_minor, is_variant_required, is_pickup_required, is_wallet_enabled,
    case when is_variant_required = 1 then exists (select 1 from variants
      where product_id = products.id and is_active = 1) else 0 end as has_active_variant,
    case when is_wallet_enabled = 1 then exists (select 1 from pass_designs
      where edition_id = ${id} and (product_id is null or product_id = products.id)) else 0 end as has_pass_design
  from products where edition_id = ${id} order by id`

export interface MessageFactRow {
  id: string
  title: string
  organization_id: string | null
  edition_id: string | null
  type: string
  subject: string
  has_blocks: number
}

export const messagesOf = (
  edition: EditionRow,
): SQL<MessageFactRow> => sql<MessageFactRow>`select id, title, organization_id,
    edition_id, type, subject, blocks <> '[]' as has_blocks
  from email_messages where (organization_id is null or organization_id = ${edition.organization_id}) and id in (
    select email_message_id from triggers
      where edition_id = ${edition.id} and is_active = 1 and email_message_id is not null
    union select ${edition.transaction_receipt_email_id} union select ${edition.refund_confirmation_email_id}
  ) order by id`

export interface ConsentFactRow {
  id: string
  name: string
  edition_id: string | null
  type: string
  text: string
}

export const consentsOf = ({
  id,
  organization_id,
}: EditionRow): SQL<ConsentFactRow> => sql<ConsentFactRow>`select id, name,
    edition_id, type, text from consents
  where ${isOfferedIn(sql`consents`, { organization_id, edition_id: id })} order by id`

export interface EndpointFactRow {
  id: string
  name: string
  edition_id: string | null
  is_active: number
  disabled_reason: string | null
  has_exhausted: number
}

/** No schedule lasts longer, even when a receiver requests a day between all attempts. */
const longestScheduleMs = 11 * dayMs

/** Endpoints that get events of this edition, and those of the organisation that get all events. */
export const endpointsOf = (
  { id, organization_id }: EditionRow,
  now: number,
): SQL<EndpointFactRow> => sql<EndpointFactRow>`select id,
    name, edition_id, is_active, disabled_reason,
    case when is_active = 1 then exists (select 1 from webhook_deliveries as given_up
      join webhook_events on webhook_events.id = given_up.event_id
      where given_up.endpoint_id = webhook_endpoints.id and given_up.status = 'exhausted'
        and given_up.created_at >= ${now - longestScheduleMs} and given_up.last_attempt_at >= ${now - dayMs}
        and webhook_events.edition_id = ${id}) else 0 end as has_exhausted
  from webhook_endpoints
  where organization_id = ${organization_id} and (edition_id is null or edition_id = ${id}) order by id`

const unfinishedMs = 7 * dayMs

export const unfinishedImportsOf = ({ id }: EditionRow, now: number) => sql<{
  id: string
  name: string
}>`select id, name
  from data_imports where edition_id = ${id} and modified_at < ${now - unfinishedMs}
    and status in ('mapping_columns', 'mapping_products') order by id`
