import type { Language, TranslatedDict } from '../../languages.ts'
import type { Channel } from '../../messaging/messaging.ts'

/** Something that a check can find at fault. A hidden one counts, but the caller may not see it. */
export interface FactSubject {
  id: string
  name: string
  is_hidden: boolean
}

export interface ProductFacts extends FactSubject {
  is_draft: boolean
  name_translations: TranslatedDict
  category_id: string | null
  price_minor: number | null
  deposit_minor: number | null
  is_variant_required: boolean
  has_active_variant: boolean
  is_pickup_required: boolean
  is_wallet_enabled: boolean
  has_pass_design: boolean
}

interface MessageFacts extends FactSubject {
  type: string
  subject: TranslatedDict
  has_blocks: boolean
}

interface ConsentFacts extends FactSubject {
  type: string
  text: TranslatedDict
}

interface EndpointFacts extends FactSubject {
  is_active: boolean
  disabled_reason: string | null
  /** A delivery of an event of this edition was given up in the last day. */
  has_exhausted: boolean
  /** The fault of the endpoint while its deliveries wait. */
  waiting_reason: string | null
}

/** Everything that the health checks of an edition need to know. */
export interface EditionFacts {
  now: number
  edition: {
    name: string
    full_name: string
    slug: string
    is_draft: boolean
    is_archived: boolean
    start_at: number | null
    end_at: number | null
    timezone: string
    default_country_code: string
    default_language: Language
    enabled_languages: readonly Language[]
    tax_type: string
    default_price_tax_rate: number
    default_deposit_tax_rate: number
    default_packaging_deposit_tax_rate: number
    currency: string
    fee_rule_id: string | null
    sms_sender_name: string
    email_sender_name: string | null
    email_sender_address: string | null
    email_reply_to: string | null
    meta_title: TranslatedDict
    meta_description: TranslatedDict
    meta_image_id: string | null
    transaction_receipt_email_id: string | null
    refund_confirmation_email_id: string | null
  }
  /** True if the event exists and belongs to the organisation. */
  has_event: boolean
  merchant_account:
    | (FactSubject & {
        supported_currencies: readonly string[]
        /** True if refunds can be paid through it. */
        is_ready: boolean
      })
    | null
  fee_rule: { is_active: boolean; currency: string } | null
  /** The currencies of the oldest and the newest orders. */
  order_currencies: readonly string[]
  has_pickup_point: boolean
  has_sms_campaign: boolean
  /** True if a campaign of this channel is scheduled. */
  has_scheduled_campaign: Record<Channel, boolean>
  /** The reason why messages of each channel wait for its provider. Null: they do not wait. */
  outages: Record<Channel, string | null> & { passes: string | null }
  /** True if the service can send through this channel. */
  has_provider: Record<Channel, boolean>
  /** True if the domain of the sender's address is a verified sender domain. */
  is_sender_verified: boolean
  has_marketing_segment: boolean
  /** A refund that has another state at its provider, or has been open for a month. */
  has_stuck_refund: boolean
  /** Why a refund waits for its payment provider; null when none waits. */
  refund_waiting_reason: string | null
  /** A refund batch that is due and has not moved for an hour. */
  has_stalled_refund_batch: boolean
  products: readonly ProductFacts[]
  /** Messages that the edition sends automatically. */
  messages: readonly MessageFacts[]
  /** Active consents that the edition offers. */
  consents: readonly ConsentFacts[]
  /** Webhook endpoints of the edition and of the organisation. */
  endpoints: readonly EndpointFacts[]
  /** Imports that have waited for their mapping for more than a week. */
  unfinished_imports: readonly FactSubject[]
}
