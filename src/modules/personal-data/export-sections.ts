import { type SQL, sql } from 'drizzle-orm'
import { selectFormerIds } from '../../db/customers.ts'
import { buildImportedRowsSection } from '../data-imports/index.ts'
import { buildSignupSection, isSignupEmail } from '../signup-forms/index.ts'
import { buildSuppressionSections } from '../suppressions/index.ts'
import type { LoadedUser } from '../users/index.ts'

/** The parts of the export. `export.ts` adds the recipients of campaigns. */
export type SectionName =
  | 'user'
  | 'editions'
  | 'earlier_addresses'
  | 'merges'
  | 'orders'
  | 'transactions'
  | 'purchases'
  | 'uses'
  | 'refunds'
  | 'wallet_passes'
  | 'wallet_phones'
  | 'consents'
  | 'suppressions'
  | 'bounces'
  | 'emails'
  | 'signups'
  | 'campaigns'
  | 'import_rows'
  | 'changes'
  | 'erasure'
  | 'campaign_recipients'

/** A part of the export: rows of a query, read in pages by `key`. Columns that end in `_json` contain JSON text. */
export interface ExportSection {
  name: SectionName
  columns: SQL
  from: SQL
  where: SQL
  key: SQL
}

const orderColumns = sql`orders.id, orders.edition_id, order_number, orders.type, orders.status, amount_minor, currency,
  items_count, has_payment, external_source as source, external_id, imported_address, metadata as metadata_json,
  cart ->> 'coupon_code' as coupon_code,
  ${sql.join(
    (['subtotal', 'deposit', 'handling_fee', 'service_fee', 'discount', 'tax'] as const).map((name) =>
      sql.raw(`coalesce(cart ->> '${name}_minor', 0) as ${name}_minor`),
    ),
    sql`, `,
  )}, orders.created_at, orders.modified_at`

const purchaseColumns = sql`purchases.id, purchases.edition_id, order_id, products.name as product,
  variants.name as variant, purchases.options as options_json, purchases.vendor_code, purchases.status,
  purchases.price_minor as price_paid_minor, purchases.deposit_minor, purchases.handling_fee_minor, purchases.uses_limit,
  purchases.uses_count, purchases.is_unlimited_use, purchases.valid_until, purchases.metadata as metadata_json,
  purchases.created_at`

/** Builds a condition on `channel` and `address`: they belong to the customer. */
const buildAddressCondition = ({ id, seq }: LoadedUser): SQL => sql`(channel, address) in (
  select 'email', email from users where id = ${id} union select 'sms', phone_number from users where id = ${id}
  union select 'email', email from edition_customers where user_seq = ${seq}
  union select 'sms', phone_number from edition_customers where user_seq = ${seq}
  union select channel, address from earlier_addresses where user_id = ${id})`

/** Builds the condition that the column has an e-mail address of the customer. */
const isOwnEmail = (column: SQL, { id, seq }: LoadedUser): SQL => sql`${column} in (
  select email from users where id = ${id} union select email from edition_customers where user_seq = ${seq}
  union select address from earlier_addresses where user_id = ${id})`

const listSalesSections = (user: LoadedUser): ExportSection[] => {
  const { id } = user
  return [
    {
      name: 'orders',
      columns: orderColumns,
      from: sql`orders`,
      where: sql`orders.user_id = ${id}`,
      key: sql`orders.id`,
    },
    {
      name: 'transactions',
      columns: sql`id, order_id, type, status, service, amount_minor, currency,
        refunded_minor as refunded_amount_minor, created_at`,
      from: sql`transactions`,
      where: sql`order_id in (select id from orders where user_id = ${id})`,
      key: sql`id`,
    },
    {
      name: 'purchases',
      columns: purchaseColumns,
      from: sql`purchases join products on products.id = purchases.product_id
        left join variants on variants.id = purchases.variant_id`,
      where: sql`purchases.user_id = ${id}`,
      key: sql`purchases.id`,
    },
    {
      name: 'uses',
      columns: sql`purchase_uses.id, purchase_id, quantity, locations.name as location, used_at, reverted_at,
        purchase_uses.created_at`,
      from: sql`purchase_uses left join locations on locations.id = purchase_uses.location_id`,
      where: sql`purchase_id in (select id from purchases where user_id = ${id})`,
      key: sql`purchase_uses.id`,
    },
  ]
}

const buildRefundSection = ({ id }: LoadedUser): ExportSection => ({
  name: 'refunds',
  columns: sql`id, order_id, purchase_id, status, source, reason, comment, note, rejection_reason, requested_minor as requested_amount_minor,
    approved_minor as approved_amount_minor, refunded_minor as refunded_amount_minor, currency, metadata as metadata_json, created_at, completed_at`,
  from: sql`refund_requests`,
  where: sql`user_id = ${id}`,
  key: sql`id`,
})

const listWalletSections = ({ id }: LoadedUser): ExportSection[] => {
  const isOfCustomer = sql`purchase_id in (select id from purchases where user_id = ${id})`
  return [
    {
      name: 'wallet_passes',
      columns: sql`id, purchase_id, platform, provider, serial_number, status, added_at, removed_at, voided_at,
        created_at`,
      from: sql`wallet_passes`,
      where: isOfCustomer,
      key: sql`id`,
    },
    {
      name: 'wallet_phones',
      columns: sql`pass_id, device_id, push_token, wallet_registrations.created_at, wallet_registrations.modified_at`,
      from: sql`wallet_registrations join wallet_passes on wallet_passes.id = pass_id`,
      where: isOfCustomer,
      key: sql`pass_id || ' ' || device_id`,
    },
  ]
}

const listMessagingSections = (user: LoadedUser): ExportSection[] => {
  const { id, organization_id } = user
  return [
    {
      name: 'consents',
      columns: sql`consent_records.id, user_id, consents.key, consent_records.edition_id, order_id, import_id, number,
        status, method, source, language, consent_version, consent_records.content_hash, evidence as evidence_json,
        occurred_at, expires_at, record_hash, is_latest`,
      from: sql`consent_records join consents on consents.id = consent_id`,
      where: sql`user_id in ${selectFormerIds(id)}`,
      key: sql`consent_records.id`,
    },
    ...buildSuppressionSections(organization_id, buildAddressCondition(user)),
    {
      name: 'emails',
      columns: sql`id, edition_id, order_id, kind, language, recipient, status, attempts, content as content_json,
        provider_id, error_code, error_detail, sent_at, created_at`,
      from: sql`transactional_emails`,
      where: sql`(user_id = ${id} or ${isSignupEmail(organization_id, (column) => isOwnEmail(column, user))})`,
      key: sql`id`,
    },
    buildSignupSection(organization_id, isOwnEmail(sql`address`, user)),
    {
      name: 'campaigns',
      columns: sql`campaign_id, campaigns.name, state, reason, received_at, delivered_at, opened_at, clicked_at,
        bounced_at, complained_at, unsubscribed_at, (select json_group_array(url order by position)
          from json_each(clicked_links) join campaign_links
            on campaign_links.campaign_id = campaign_receipts.campaign_id and position = value) as clicked_links_json`,
      from: sql`campaign_receipts join campaigns on campaigns.id = campaign_id`,
      where: sql`user_id = ${id}`,
      key: sql`campaign_id`,
    },
  ]
}

export const listExportSections = (user: LoadedUser): ExportSection[] => {
  const { id, seq, organization_id } = user
  return [
    {
      name: 'user',
      columns: sql`id, organization_id, email, phone_number, first_name, last_name, locale,
        msg_channel, is_verified, is_active, metadata as metadata_json, last_seen_at, erased_at,
        created_at as joined_at, modified_at`,
      from: sql`users`,
      where: sql`id = ${id}`,
      key: sql`id`,
    },
    {
      name: 'editions',
      columns: sql`editions.id as edition_id, contact.email, contact.phone_number, contact.first_name,
        contact.last_name, contact.locale, contact.metadata as metadata_json, contact.created_at`,
      from: sql`edition_customers as contact join editions on editions.id = contact.edition_id`,
      where: sql`contact.user_seq = ${seq}`,
      key: sql`editions.id`,
    },
    {
      name: 'earlier_addresses',
      columns: sql`channel, address, created_at`,
      from: sql`earlier_addresses`,
      where: sql`user_id = ${id}`,
      key: sql`channel || ' ' || address`,
    },
    {
      name: 'merges',
      columns: sql`id as user_id, merged_at`,
      from: sql`user_merges`,
      where: sql`into_id = ${id}`,
      key: sql`id`,
    },
    ...listSalesSections(user),
    buildRefundSection(user),
    ...listWalletSections(user),
    ...listMessagingSections(user),
    buildImportedRowsSection(user.id),
    {
      name: 'changes',
      columns: sql`id, action, changes as changes_json, created_at`,
      from: sql`audit_log`,
      where: sql`organization_id = ${organization_id} and resource_id in ${selectFormerIds(id)}`,
      key: sql`id`,
    },
    {
      name: 'erasure',
      columns: sql`id, reason, created_at, completed_at`,
      from: sql`erasures`,
      where: sql`user_id = ${id}`,
      key: sql`id`,
    },
  ]
}
