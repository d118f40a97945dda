import { z } from '@hono/zod-openapi'
import { importKinds } from '../../../domain/data-imports/import-kinds.ts'
import { channels } from '../../../domain/messaging/messaging.ts'
import { customerEmailKinds } from '../../../domain/messaging/transactional-emails.ts'
import { currencies } from '../../../domain/money.ts'
import { orderStatuses } from '../../../domain/orders/orders.ts'
import { refundSources } from '../../../domain/refunds/refunds.ts'
import { walletPlatforms } from '../../../domain/wallet/wallet.ts'
import { type EventKind, eventKindNames, faultReasons } from '../../../domain/webhooks/webhooks.ts'
import { Amount, Count, Id, orNull, Timestamp } from '../../../http/fields.ts'

const EventCustomer = z
  .object({
    api_id: Id('usr'),
    email: z.string().nullable().openapi({ description: 'Null when the customer has no e-mail address.' }),
  })
  .openapi('EventCustomer')

const ConsentEventData = z
  .object({
    consent: z.object({ id: Id('con'), key: z.string().openapi({ example: 'newsletter' }), version: z.int() }),
    user: EventCustomer,
    record_id: Id('cre'),
    status: z.enum(['given', 'skipped', 'withdrawn', 'expired']),
    previous_status: z
      .enum(['given', 'skipped', 'withdrawn', 'expired'])
      .nullable()
      .openapi({ description: 'Null when this is the first answer to this consent.' }),
    occurred_at: Timestamp,
    expires_at: Timestamp.nullable().openapi({ description: 'Null when the consent does not expire.' }),
    source: z.string().openapi({ example: 'checkout' }),
  })
  .openapi('ConsentEventData')

const purchaseActions = [
  'activated',
  'used',
  'use_reverted',
  'refund_requested',
  'refund_approved',
  'refund_rejected',
  'refunded',
  'refund_failed',
  'cancelled',
  'expired',
] as const

const PurchaseEventData = z
  .object({
    action: z.enum(purchaseActions),
    purchase: z.object({
      id: Id('pur'),
      vendor_code: z.string().nullable().openapi({ description: 'Null when the purchase has no vendor code.' }),
      status: z.string().openapi({ example: 'active' }),
      product: z.object({ api_id: Id('prd'), name: z.string() }),
      variant: z
        .union([z.object({ api_id: Id('var'), name: z.string() }), z.null()])
        .openapi({ description: 'Null when the product was sold without a variant.' }),
    }),
    order: z.object({
      id: Id('ord'),
      order_number: z.string().nullable().openapi({ description: 'Null when the order has no number.' }),
    }),
    user: EventCustomer,
    refund_request: z
      .union([z.object({ id: Id('rfr'), status: z.string(), amount: z.number(), currency: z.string() }), z.null()])
      .openapi({ description: 'Null when the action is not about a refund.' }),
    occurred_at: Timestamp,
  })
  .openapi('PurchaseEventData')

const WalletEventData = z
  .object({
    pass: z.object({
      id: Id('wps'),
      serial_number: z.string(),
      provider: z.enum(['vendorA', 'vendorB']),
      platform: z.enum(walletPlatforms),
    }),
    purchase: z.object({ id: Id('pur') }),
    user: EventCustomer,
    occurred_at: Timestamp,
  })
  .openapi('WalletEventData')

/** Customers in these events have no other field, so an erasure has nothing to remove from them. */
const CustomerReference = z.object({ api_id: Id('usr') })

const OrderEventData = z
  .object({
    order: z.object({
      id: Id('ord'),
      order_number: z.string().nullable().openapi({ description: 'Null when the order has no number.' }),
      external_id: z.string().nullable().openapi({
        description: 'The id of the order in the system that it was imported from. Null when it was not imported.',
        example: 'A-1001',
      }),
      source: z.string().nullable().openapi({
        description: 'The system that the order was imported from. Null when it was not imported.',
        example: 'ticketshop',
      }),
      status: z.enum(orderStatuses),
      amount: Amount(),
      currency: z.enum(currencies),
    }),
    previous_status: z
      .enum(orderStatuses)
      .nullable()
      .openapi({ description: 'The status before the change. Null when the order is new.' }),
    user: CustomerReference,
    occurred_at: Timestamp,
  })
  .openapi('OrderEventData')

const RefundEventData = z
  .object({
    refund_request: z.object({
      id: Id('rfr'),
      status: z.enum(['completed', 'failed']),
      source: z.enum(refundSources),
      amount: Amount(),
      currency: z.enum(currencies),
      failure_code: z.string().nullable().openapi({ description: 'Null when the refund is completed.' }),
    }),
    previous_status: z.string().nullable().openapi({
      description:
        'The status before the change: `completed` when the provider reversed the refund. Null when the refund was made at the provider.',
      example: 'processing',
    }),
    order: z.object({ id: Id('ord') }),
    user: CustomerReference,
    occurred_at: Timestamp,
  })
  .openapi('RefundEventData')

const ImportEventData = z
  .object({
    data_import: z.object({
      id: Id('imp'),
      source: z.string().openapi({ description: '`api` for external orders.', example: 'csv' }),
      kind: z
        .enum(importKinds)
        .openapi({ description: '`customers`: the numbers of orders are numbers of customers.' }),
      status: z.enum(['completed', 'completed_with_errors']),
      total_rows: Count,
      created_orders: Count,
      updated_orders: Count,
      skipped_orders: Count,
      failed_orders: Count,
    }),
    occurred_at: Timestamp,
  })
  .openapi('ImportEventData')

const CampaignEventData = z
  .object({
    campaign: z.object({
      id: Id('cmp'),
      channel: z.enum(channels),
      total_recipients: Count,
      sent_count: Count,
      failed_count: Count,
      skipped_count: Count,
    }),
    occurred_at: Timestamp,
  })
  .openapi('CampaignEventData')

const messageReasons = ['hard', 'soft', 'block', 'undelivered', 'complaint'] as const

const MessageEventData = z
  .object({
    message: z.object({
      channel: z.enum(channels),
      kind: z.enum(['campaign', ...customerEmailKinds]),
    }),
    campaign: orNull(z.object({ id: Id('cmp') })).openapi({ description: 'Null when no campaign sent the message.' }),
    order: orNull(z.object({ id: Id('ord') })).openapi({ description: 'Null when the message is not a receipt.' }),
    user: CustomerReference,
    reason: z.enum(messageReasons).openapi({
      description:
        '`hard`: the address does not exist. `soft`: it may work later. `block`: the receiver refuses the message. `undelivered`: the provider gave up. `complaint`: the customer reported it as spam.',
    }),
    occurred_at: Timestamp.openapi({ description: 'The time that the provider reports.' }),
  })
  .openapi('MessageEventData')

const UserEventData = z
  .object({
    user: CustomerReference,
    fields: z.array(z.string()).openapi({
      description:
        'The names of the fields that changed. An event with an edition is about the values of that edition, and one without about those of the organisation.',
      example: ['first_name', 'phone_number'],
    }),
    occurred_at: Timestamp,
  })
  .openapi('UserEventData')

const UserMergeEventData = z
  .object({ user: CustomerReference, merged_into: CustomerReference, occurred_at: Timestamp })
  .openapi('UserMergeEventData')

const EndpointEventData = z
  .object({
    webhook: z.object({ id: Id('whk') }),
    reason: z
      .enum(faultReasons)
      .openapi({ description: '`gone`: it answered 410. `failing`: all attempts failed for five days.' }),
    occurred_at: Timestamp,
  })
  .openapi('EndpointEventData')

/** The `data` of every kind. */
const eventData = {
  'consent.given': ConsentEventData,
  'consent.skipped': ConsentEventData,
  'consent.withdrawn': ConsentEventData,
  'consent.expired': ConsentEventData,
  'purchase.action': PurchaseEventData,
  'wallet.vendorA.pass-added': WalletEventData,
  'wallet.vendorA.pass-removed': WalletEventData,
  'wallet.vendorB.pass-added': WalletEventData,
  'order.created': OrderEventData,
  'order.updated': OrderEventData,
  'order.cancelled': OrderEventData,
  'refund.completed': RefundEventData,
  'refund.failed': RefundEventData,
  'import.completed': ImportEventData,
  'campaign.sent': CampaignEventData,
  'message.bounced': MessageEventData,
  'message.complained': MessageEventData,
  'user.updated': UserEventData,
  'user.merged': UserMergeEventData,
  'webhook.disabled': EndpointEventData,
} as const satisfies Record<EventKind, z.ZodType>

export type EventData<Kind extends EventKind> = z.output<(typeof eventData)[Kind]>

/** Fields that the events of all kinds have. */
const WebhookEvent = z
  .object({
    id: Id('evn').openapi({
      description:
        'The id of the event and the `webhook-id` header. It is the same for every endpoint and every attempt.',
    }),
    type: z.enum(eventKindNames),
    created: Timestamp,
    api_version: z.literal('v1'),
    organization_id: Id('org'),
    edition_id: Id('edt').nullable().openapi({ description: 'Null when the event belongs to the whole organisation.' }),
  })
  .openapi('WebhookEvent')

/** The body of the requests that deliver an event. */
export const payloadSchema = (kind: EventKind) => WebhookEvent.extend({ type: z.literal(kind), data: eventData[kind] })

/** Throws for data that does not fit the schema of its kind. */
export const checkData = (kind: EventKind, data: unknown): unknown => eventData[kind].parse(data)
