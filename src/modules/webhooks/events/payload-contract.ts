import { z } from '@hono/zod-openapi'
import { walletPlatforms } from '../../../domain/wallet/wallet.ts'
import { type EventKind, eventKindNames } from '../../../domain/webhooks/webhooks.ts'
import { Id, Timestamp } from '../../../http/fields.ts'

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
