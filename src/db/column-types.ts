import { memberRoles } from '../domain/accounts/access.ts'
import { messageChannels } from '../domain/accounts/users.ts'
import { alarmKinds } from '../domain/alarms.ts'
import type { AuditChange } from '../domain/audit.ts'
import { storedApprovalStatuses } from '../domain/campaigns/approval.ts'
import type { AcceptedTranslation } from '../domain/campaigns/content-faults.ts'
import { campaignLifecycle } from '../domain/campaigns/lifecycle.ts'
import type { SendWindow } from '../domain/campaigns/send-window.ts'
import { recipientStates } from '../domain/campaigns/sending-policy.ts'
import type { ContentContext, SegmentSnapshot } from '../domain/campaigns/snapshots.ts'
import {
  answerMethods,
  answerStatuses,
  type CollectPoint,
  consentTypes,
  legalBases,
  effectiveStatuses,
} from '../domain/consents/consents.ts'
import type { ShownConsent } from '../domain/consents/signups.ts'
import {
  type ColumnSummary,
  dataImportStatuses,
  importPhases,
  type PreviewTotals,
  type ProductSummary,
  type RememberedOption,
  type RowCounts,
  rowOutcomes,
  sourceOrigins,
  type StoredOptions,
  type StoredSource,
} from '../domain/data-imports/data-imports.ts'
import type { StoredFormat } from '../domain/data-imports/files/format.ts'
import { importKinds } from '../domain/data-imports/import-kinds.ts'
import type { ImportPosition } from '../domain/data-imports/import-position.ts'
import { type RestoredVersions, undoReasons } from '../domain/data-imports/import-undo.ts'
import {
  columnQuestions,
  type ColumnStatistics,
  type StagedValues,
  type StoredError,
  type StoredWarning,
  suggestionOrigins,
  type Transform,
  type ValueMap,
} from '../domain/data-imports/mapping/index.ts'
import { countryCodes, smsSenderNames, taxTypes } from '../domain/editions/editions.ts'
import type { Block } from '../domain/email/blocks/blocks.ts'
import type { ConfirmationSnapshot } from '../domain/email/messages/consent-confirmation.ts'
import type { RefundSnapshot } from '../domain/email/messages/refund-messages.ts'
import { filePurposes, fileStatuses } from '../domain/files/files.ts'
import { scanStates } from '../domain/files/scans.ts'
import { type Language, languages, type TranslatedDict } from '../domain/languages.ts'
import { emailMessageScopes, emailMessageTypes, emailTemplates } from '../domain/messaging/email-messages.ts'
import { capturedChannels, type Channel, channels } from '../domain/messaging/messaging.ts'
import {
  checkOutcomes,
  type DnsRecord,
  senderDomainStatuses,
  senderDomainVerifiers,
} from '../domain/messaging/sender-domains.ts'
import type { SmsPrice } from '../domain/messaging/sms-price.ts'
import { suppressionReasons } from '../domain/messaging/suppressions.ts'
import { transactionalEmailKinds, transactionalEmailStatuses } from '../domain/messaging/transactional-emails.ts'
import { currencies, type Currency } from '../domain/money.ts'
import type { StoredCart } from '../domain/orders/carts.ts'
import type { StoredResult } from '../domain/orders/external-orders.ts'
import {
  orderStatuses,
  orderTypes,
  transactionServices,
  transactionStatuses,
  transactionTypes,
} from '../domain/orders/orders.ts'
import { type BoughtOption, purchaseStatuses } from '../domain/orders/purchases.ts'
import { paymentServices } from '../domain/refunds/merchant-accounts.ts'
import { paymentChecks } from '../domain/refunds/payment-checks.ts'
import { type BatchFilter, type BatchSums, refundBatchStatuses } from '../domain/refunds/refund-batches.ts'
import type { RefundPolicy } from '../domain/refunds/refund-policy.ts'
import { refundReasons, refundSources, refundStatuses, refundTargets } from '../domain/refunds/refunds.ts'
import { communicationTypes, type ExclusionReason, exclusionReasons, segmentStatuses } from '../domain/segments.ts'
import type { SweepRuns } from '../domain/system.ts'
import { googleCallbackEvents, walletPassStatuses, walletPlatforms, walletProviders } from '../domain/wallet/wallet.ts'
import {
  deliveryStatuses,
  disabledReasons,
  type EventKind,
  eventKindNames,
  type LoggedAttempt,
  manualRetries,
  nextReasons,
} from '../domain/webhooks/webhooks.ts'

/** A column of JSON. It has no value at run time: `value` is the type of what the column holds. */
export interface JsonColumn<Value> {
  readonly mode: 'json'
  readonly value: Value
}

export const json = <Value>() => ({ mode: 'json' }) as JsonColumn<Value>

/**
 * The types that SQL does not have: the words of a text, and what JSON holds. `npm run schema` writes them into the tables
 * of `schema/`. A column with `check (… in (0, 1))` is a boolean there, unless it is a `number` here.
 */
export const types = {
  organizations: {
    refund_policy: json<Partial<RefundPolicy>>(),
    sms_price: json<SmsPrice>(),
  },
  members: {
    role: memberRoles,
  },
  idempotency_keys: {
    headers: json<Readonly<Record<string, string>>>(),
  },
  editions: {
    default_country_code: countryCodes,
    default_language: languages,
    enabled_languages: json<readonly Language[]>(),
    tax_type: taxTypes,
    currency: currencies,
    merchant_account_extra_parameters: json<Readonly<Record<string, unknown>>>(),
    merchant_id: json<Readonly<Record<string, unknown>>>(),
    metadata: json<Readonly<Record<string, unknown>>>(),
    sms_sender_name: smsSenderNames,
    meta_title: json<TranslatedDict>(),
    meta_description: json<TranslatedDict>(),
  },
  fee_rules: {
    currency: currencies,
  },
  merchant_accounts: {
    type: paymentServices,
    supported_currencies: json<readonly Currency[]>(),
  },
  categories: {
    name_translations: json<TranslatedDict>(),
  },
  product_merges: {
    ids: json<Record<string, string>>(),
  },
  products: {
    name_translations: json<TranslatedDict>(),
    images: json<readonly string[]>(),
  },
  users: {
    msg_channel: messageChannels,
    metadata: json<Record<string, unknown>>(),
  },
  edition_customers: {
    metadata: json<Record<string, unknown>>(),
  },
  erasures: {
    addresses: json<[Channel, string][]>(),
  },
  user_merges: {
    edition_ids: json<string[]>(),
  },
  earlier_addresses: {
    channel: channels,
  },
  orders: {
    type: orderTypes,
    status: orderStatuses,
    currency: currencies,
    cart: json<StoredCart>(),
    metadata: json<Record<string, unknown>>(),
  },
  order_counts: {
    status: orderStatuses,
    type: orderTypes,
  },
  sales_series: {
    kind: ['order', 'purchase', 'use', 'refund'],
  },
  transactions: {
    type: transactionTypes,
    status: transactionStatuses,
    service: transactionServices,
    currency: currencies,
  },
  purchases: {
    options: json<readonly BoughtOption[]>(),
    status: purchaseStatuses,
    metadata: json<Record<string, unknown>>(),
  },
  refund_requests: {
    target: refundTargets,
    status: refundStatuses,
    source: refundSources,
    reason: refundReasons,
    currency: currencies,
    service: paymentServices,
    payment_check: paymentChecks,
    metadata: json<Record<string, unknown>>(),
  },
  refund_items: {
    status_before: purchaseStatuses,
  },
  refund_batches: {
    status: refundBatchStatuses,
    filter: json<BatchFilter>(),
    reason: refundReasons,
    dry_run: json<BatchSums>(),
    requested: json<BatchSums>(),
    source: refundSources,
  },
  refund_batch_totals: {
    currency: currencies,
    status: refundStatuses,
  },
  files: {
    alt_text: json<TranslatedDict>(),
    purpose: filePurposes,
    status: fileStatuses,
    tags: json<readonly string[]>(),
    metadata: json<Readonly<Record<string, unknown>>>(),
  },
  file_uploads: {
    tags: json<readonly string[]>(),
    metadata: json<Readonly<Record<string, unknown>>>(),
  },
  file_scans: {
    state: scanStates.states,
  },
  data_imports: {
    kind: importKinds,
    source: ['csv', 'xlsx', 'api'],
    source_suggested_by: sourceOrigins,
    status: dataImportStatuses,
    options: json<StoredOptions>(),
    remembered_options: json<readonly RememberedOption[]>(),
    phase: importPhases,
    position: json<ImportPosition>(),
    format: json<StoredFormat>(),
    detected_source: json<StoredSource>(),
    column_summary: json<ColumnSummary>(),
    product_summary: json<ProductSummary>(),
    row_counts: json<RowCounts>(),
    stored_results: json<readonly StoredResult[]>(),
  },
  import_columns: {
    sample_values: json<readonly string[]>(),
    statistics: json<ColumnStatistics | { filled_cells?: undefined }>(),
    suggested_by: suggestionOrigins,
    transform: json<Transform>(),
    value_map: json<ValueMap>(),
    question: columnQuestions,
  },
  import_constants: {
    suggested_by: suggestionOrigins,
  },
  import_header_history: {
    kind: importKinds,
    transform: json<Transform>(),
    value_map: json<ValueMap>(),
  },
  import_source_history: {
    kind: importKinds,
    constants: json<Readonly<Record<string, string>>>(),
    options: json<StoredOptions>(),
  },
  import_product_history: {
    action: ['map', 'create', 'ignore'],
    option_ids: json<readonly string[]>(),
  },
  import_rows: {
    data: json<StagedValues>(),
    errors: json<readonly StoredError[]>(),
    warnings: json<readonly StoredWarning[]>(),
    outcome: rowOutcomes,
  },
  import_orders: {
    outcome: rowOutcomes,
    undo_outcome: ['undone', 'kept'],
    undo_reason: undoReasons,
    restored_versions: json<RestoredVersions>(),
  },
  import_products: {
    options: json<readonly string[]>(),
    action: ['map', 'create', 'ignore'],
    option_ids: json<readonly string[]>(),
    similar_product: json<{ id: string; name: string }>(),
  },
  import_previews: {
    totals: json<PreviewTotals>(),
  },
  consents: {
    title: json<TranslatedDict>(),
    text: json<TranslatedDict>(),
    link_url: json<TranslatedDict>(),
    type: consentTypes,
    channels: json<Channel[]>(),
    legal_basis: legalBases,
    collect_at: json<CollectPoint[]>(),
    metadata: json<Record<string, unknown>>(),
  },
  consent_versions: {
    title: json<TranslatedDict>(),
    text: json<TranslatedDict>(),
    link_url: json<TranslatedDict>(),
    legal_basis: legalBases,
  },
  consent_records: {
    status: answerStatuses,
    previous_status: effectiveStatuses,
    method: answerMethods,
    language: languages,
    // `npm run verify` reads rows without the schema.
    is_latest: 'number',
  },
  suppressions: {
    channel: channels,
    reason: suppressionReasons,
  },
  suppression_hashes: {
    channel: channels,
    reason: suppressionReasons,
  },
  soft_bounces: {
    channel: channels,
  },
  email_messages: {
    subject: json<TranslatedDict>(),
    preheader: json<TranslatedDict>(),
    type: emailMessageTypes,
    scope: emailMessageScopes,
    template: emailTemplates,
    blocks: json<Block[]>(),
  },
  email_renditions: {
    language: languages,
  },
  transactional_emails: {
    kind: transactionalEmailKinds,
    confirmation: json<ConfirmationSnapshot>(),
    refund: json<RefundSnapshot>(),
    language: languages,
    status: transactionalEmailStatuses,
  },
  signup_forms: {
    title: json<TranslatedDict>(),
    text: json<TranslatedDict>(),
    languages: json<readonly Language[]>(),
    consent_ids: json<readonly string[]>(),
    allowed_sites: json<readonly string[]>(),
  },
  signup_requests: {
    language: languages,
    consents: json<readonly ShownConsent[]>(),
    evidence: json<Readonly<Record<string, string>>>(),
  },
  sender_domains: {
    status: senderDomainStatuses,
    verified_by: senderDomainVerifiers,
    check_outcome: checkOutcomes,
    provider_records: json<readonly DnsRecord[]>(),
  },
  segments: {
    communication_type: communicationTypes,
    communication_channel: channels,
    status: segmentStatuses,
    excluded: json<Partial<Record<ExclusionReason, number>>>(),
  },
  segment_members: {
    excluded_for: exclusionReasons,
  },
  segment_exports: {
    columns: json<readonly string[]>(),
  },
  campaigns: {
    channel: channels,
    sms_body: json<TranslatedDict>(),
    accepted_translations: json<readonly AcceptedTranslation[]>(),
    status: campaignLifecycle.states,
    send_window: json<SendWindow>(),
    segment_snapshot: json<SegmentSnapshot>(),
  },
  campaign_approvals: {
    status: storedApprovalStatuses,
    content: json<unknown>(),
  },
  campaign_receipts: {
    state: recipientStates,
    clicked_links: json<readonly number[]>(),
  },
  campaign_contents: {
    conditions: json<readonly number[]>(),
    language: languages,
    links: json<readonly number[]>(),
    context: json<ContentContext>(),
  },
  webhook_endpoints: {
    events: json<EventKind[]>(),
    disabled_reason: disabledReasons,
  },
  webhook_events: {
    kind: eventKindNames,
  },
  webhook_deliveries: {
    kind: eventKindNames,
    status: deliveryStatuses,
    manual: manualRetries,
    last_attempt: json<LoggedAttempt>(),
  },
  webhook_attempts: {
    next_reason: nextReasons,
  },
  pass_designs: {
    design: json<Readonly<Record<string, unknown>>>(),
  },
  wallet_passes: {
    platform: walletPlatforms,
    provider: walletProviders,
    status: walletPassStatuses,
  },
  wallet_callbacks: {
    event: googleCallbackEvents,
  },
  captured_messages: {
    channel: capturedChannels,
    headers: json<Readonly<Record<string, string>>>(),
  },
  sweep_runs: {
    sweeps: json<SweepRuns>(),
  },
  alarms: {
    kind: alarmKinds,
  },
  audit_log: {
    changes: json<readonly AuditChange[]>(),
  },
} as const
