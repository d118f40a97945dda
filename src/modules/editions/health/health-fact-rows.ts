import { and, eq, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { inList, inWords } from '../../../db/conditions.ts'
import { isOfferedIn } from '../../../db/consents.ts'
import { campaigns } from '../../../db/schema/campaigns.ts'
import { products } from '../../../db/schema/catalog.ts'
import { consents } from '../../../db/schema/consents.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { emailMessages } from '../../../db/schema/email-messages.ts'
import { segments } from '../../../db/schema/segments.ts'
import { webhookDeliveries, webhookEndpoints } from '../../../db/schema/webhooks.ts'
import { fromFlag, fromJson, jsonFlag, select, selectValues } from '../../../db/select.ts'
import { runningStatuses } from '../../../domain/campaigns/lifecycle.ts'
import type { DataImportStatus } from '../../../domain/data-imports/data-imports.ts'
import type { Channel } from '../../../domain/messaging/messaging.ts'
import { workingStatuses } from '../../../domain/refunds/refund-batches.ts'
import { dayMs, hourMs } from '../../../domain/time/instants.ts'
import { heldReason, type Service } from '../../../domain/waiting.ts'
import { isVerifiedSender } from '../../sender-domains/index.ts'
import type { EditionRow } from '../queries.ts'

export interface MerchantAccountFactRow {
  id: string
  name: string
  type: string
  is_active: boolean
  supported_currencies: string[]
  /** The fingerprint of the secret that encrypted its API key. Null: it has none. */
  sealed_with: string | null
}

interface FeeRuleFactRow {
  is_active: boolean
  currency: string
}

/** Only the oldest and the newest orders are checked, because an edition can have a hundred thousand. */
const orderSampleSize = 50

const selectOrderSample = (
  editionId: string,
  direction: 'asc' | 'desc',
) => sql`select currency from (select currency from orders
  where edition_id = ${editionId} order by created_at ${sql.raw(direction)} limit ${orderSampleSize})`

/** A batch makes a step every few seconds, or at the next sweep a minute later. */
const stalledBatchMs = hourMs

function factFields({ id, organization_id, ...edition }: EditionRow, now: number) {
  const isOfEdition = and(eq(campaigns.organization_id, organization_id), eq(campaigns.edition_id, id))
  const isMarketing = and(
    eq(segments.organization_id, organization_id),
    isNull(segments.deleted_at),
    eq(segments.communication_type, 'marketing'),
  )
  return {
    has_event: fromFlag(sql`exists (select 1 from events
      where id = ${edition.event_id} and organization_id = ${organization_id})`),
    merchant_account:
      fromJson<MerchantAccountFactRow | null>(sql`(select json_object('id', id, 'name', name, 'type', type,
        'is_active', ${jsonFlag(sql`is_active`)}, 'supported_currencies', json(supported_currencies),
        'sealed_with', case when sealed_api_key is null then null else sealed_with end) from merchant_accounts
      where id = ${edition.merchant_account_id} and organization_id = ${organization_id})`),
    fee_rule:
      fromJson<FeeRuleFactRow | null>(sql`(select json_object('is_active', ${jsonFlag(sql`is_active`)}, 'currency', currency)
      from fee_rules where id = ${edition.fee_rule_id} and organization_id = ${organization_id})`),
    order_currencies: fromJson<string[]>(sql`(select json_group_array(distinct currency) from
      (${selectOrderSample(id, 'asc')} union ${selectOrderSample(id, 'desc')}))`),
    has_pickup_point: fromFlag(sql`exists (select 1 from locations where edition_id = ${id} and is_draft = 0)`),
    has_sms_campaign: fromFlag(sql`exists (select 1 from ${campaigns}
      where ${isOfEdition} and ${eq(campaigns.channel, 'sms')})`),
    scheduled_channels: fromJson<Channel[]>(sql`(select json_group_array(distinct channel) from ${campaigns}
      where ${isOfEdition} and ${eq(campaigns.status, 'scheduled')})`),
    campaign_waits: fromJson<Partial<Record<Channel, string>>>(sql`(select json_group_object(channel, waiting_reason)
      from ${campaigns} where ${isOfEdition} and ${inList(sql`status`, runningStatuses)} and waiting_since is not null
        and paused_at is null and window_opens_at is null and waiting_reason <> ${heldReason})`),
    service_waits: fromJson<Partial<Record<Service, string>>>(sql`(select json_group_object(service, reason)
      from service_outages where resource_id = '')`),
    has_passes: fromFlag(sql`exists (select 1 from wallet_editions where edition_id = ${id})`),
    is_sender_verified: fromFlag(isVerifiedSender(sql`${organization_id}`, sql`${edition.email_sender_address}`)),
    has_marketing_segment: fromFlag(sql`exists (select 1 from ${segments} where ${isMarketing}
      and (${segments.edition_id} = ${id} or exists (select 1 from ${campaigns}
        where ${campaigns.segment_id} = ${segments.id} and ${campaigns.edition_id} = ${id})))`),
    has_stuck_refund: fromFlag(sql`exists (select 1 from refund_requests
      where edition_id = ${id} and needs_attention = 1)`),
    refund_waiting_reason: sql<string | null>`(select waiting_reason from refund_requests
      indexed by refund_requests_waiting_of_edition where edition_id = ${id} and merchant_account_id is not null
        and waiting_since is not null limit 1)`,
    has_stalled_refund_batch: fromFlag(sql`exists (select 1 from refund_batches
      where edition_id = ${id} and modified_at < ${now - stalledBatchMs} and ${inList(sql`status`, workingStatuses)})`),
  }
}

export const selectFacts = (edition: EditionRow, now: number) => selectValues(factFields(edition, now))

const productFields = {
  id: products.id,
  name: products.name,
  is_draft: products.is_draft,
  name_translations: products.name_translations,
  category_id: products.category_id,
  price_minor: products.price_minor,
  deposit_minor: products.deposit_minor,
  is_variant_required: products.is_variant_required,
  is_pickup_required: products.is_pickup_required,
  is_wallet_enabled: products.is_wallet_enabled,
  has_active_variant: fromFlag(sql`case when ${products.is_variant_required} = 1 then exists (select 1 from variants
    where product_id = ${products.id} and is_active = 1) else 0 end`),
  has_pass_design: fromFlag(sql`case when ${products.is_wallet_enabled} = 1 then exists (select 1 from pass_designs
    where pass_designs.edition_id = ${products.edition_id}
      and (product_id is null or product_id = ${products.id})) else 0 end`),
}

export const selectProducts = ({ id }: EditionRow) =>
  select(productFields)
    .from(products)
    .where(and(eq(products.edition_id, id), isNull(products.merged_into_id)))
    .orderBy(products.id)

const messageFields = {
  id: emailMessages.id,
  title: emailMessages.title,
  edition_id: emailMessages.edition_id,
  type: emailMessages.type,
  subject: emailMessages.subject,
  has_blocks: fromFlag(sql`${emailMessages.blocks} <> '[]'`),
}

export const selectMessages = (edition: EditionRow) =>
  select(messageFields)
    .from(emailMessages)
    .where(
      and(
        or(isNull(emailMessages.organization_id), eq(emailMessages.organization_id, edition.organization_id)),
        sql`${emailMessages.id} in (select email_message_id from triggers
            where edition_id = ${edition.id} and is_active = 1 and email_message_id is not null
          union select ${edition.transaction_receipt_email_id} union select ${edition.refund_confirmation_email_id})`,
      ),
    )
    .orderBy(emailMessages.id)

const consentFields = {
  id: consents.id,
  name: consents.name,
  edition_id: consents.edition_id,
  type: consents.type,
  text: consents.text,
}

export const selectConsents = ({ id, organization_id }: EditionRow) =>
  select(consentFields)
    .from(consents)
    .where(isOfferedIn(sql`consents`, { organization_id, edition_id: id }))
    .orderBy(consents.id)

/** Even if a receiver requests a day between all attempts, they end within this time. */
const longestScheduleMs = 11 * dayMs

/** True if a delivery of the edition's events was given up in the last day. */
const hasExhausted = (editionId: string, now: number): SQL => sql`exists (select 1 from ${webhookDeliveries}
  where ${webhookDeliveries.endpoint_id} = ${webhookEndpoints.id} and ${eq(webhookDeliveries.status, 'exhausted')}
    and ${webhookDeliveries.created_at} >= ${now - longestScheduleMs}
    and ${webhookDeliveries.last_attempt_at} >= ${now - dayMs} and ${webhookDeliveries.edition_id} = ${editionId})`

/** The endpoints that get events of this edition. */
export const selectEndpoints = ({ id, organization_id }: EditionRow, now: number) =>
  select({
    id: webhookEndpoints.id,
    name: webhookEndpoints.name,
    edition_id: webhookEndpoints.edition_id,
    is_active: webhookEndpoints.is_active,
    disabled_reason: webhookEndpoints.disabled_reason,
    waiting_reason: sql<string | null>`case when ${webhookEndpoints.is_active} = 1
      and ${webhookEndpoints.failing_since} is not null then ${webhookEndpoints.failing_reason} end`,
    has_exhausted: fromFlag(sql`case when ${webhookEndpoints.is_active} = 1 then ${hasExhausted(id, now)} else 0 end`),
  })
    .from(webhookEndpoints)
    .where(
      and(
        eq(webhookEndpoints.organization_id, organization_id),
        or(isNull(webhookEndpoints.edition_id), eq(webhookEndpoints.edition_id, id)),
      ),
    )
    .orderBy(webhookEndpoints.id)

const unfinishedMs = 7 * dayMs

/** An index covers imports in these statuses. */
const mappingStatuses = ['mapping_columns', 'mapping_products'] as const satisfies DataImportStatus[]

export const selectUnfinishedImports = ({ id }: EditionRow, now: number) =>
  select({ id: dataImports.id, name: dataImports.name })
    .from(dataImports)
    .where(
      and(
        eq(dataImports.edition_id, id),
        lt(dataImports.modified_at, now - unfinishedMs),
        inWords(sql`${dataImports.status}`, mappingStatuses),
      ),
    )
    .orderBy(dataImports.id)
