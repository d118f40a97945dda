import type { EventKind } from '../../../domain/webhooks/webhooks.ts'
import type { EventData } from './payload-contract.ts'

const exampleId = (prefix: string) => `${prefix}_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8`

const at = '2026-06-01T08:00:00.000Z'
const user = { api_id: exampleId('usr'), email: 'aegir@example.dk' }

const consentChange = {
  consent: { id: exampleId('con'), key: 'newsletter', version: 1 },
  user,
  record_id: exampleId('cre'),
  previous_status: null,
  occurred_at: at,
  expires_at: null,
  source: 'checkout',
}

const pass = { id: exampleId('wps'), serial_number: '6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e' }
const passChange = { purchase: { id: exampleId('pur') }, user, occurred_at: at }

const customer = { api_id: user.api_id }

const order = {
  id: exampleId('ord'),
  order_number: '100023',
  external_id: 'A-1001',
  source: 'ticketshop',
  status: 'completed' as const,
  amount: 450,
  currency: 'dkk' as const,
}
const orderChange = { order, previous_status: null, user: customer, occurred_at: at }

const refund = {
  id: exampleId('rfr'),
  status: 'completed' as const,
  source: 'admin' as const,
  amount: 225,
  currency: 'dkk' as const,
  failure_code: null,
}
const refundChange = {
  refund_request: refund,
  previous_status: 'processing',
  order: { id: exampleId('ord') },
  user: customer,
  occurred_at: at,
}

const messageReport = {
  message: { channel: 'email' as const, kind: 'campaign' as const },
  campaign: { id: exampleId('cmp') },
  order: null,
  user: customer,
  occurred_at: at,
}

/** An example of `data` for each kind, for the documentation and for test events. */
export const exampleData: { [Kind in EventKind]: EventData<Kind> } = {
  'consent.given': { ...consentChange, status: 'given', expires_at: '2028-06-01T08:00:00.000Z' },
  'consent.skipped': { ...consentChange, status: 'skipped' },
  'consent.withdrawn': { ...consentChange, status: 'withdrawn', previous_status: 'given', source: 'unsubscribe' },
  'consent.expired': { ...consentChange, status: 'expired', previous_status: 'given', expires_at: at },
  'purchase.action': {
    action: 'activated',
    purchase: {
      id: exampleId('pur'),
      vendor_code: 'DAY',
      status: 'active',
      product: { api_id: exampleId('prd'), name: 'Day ticket' },
      variant: { api_id: exampleId('var'), name: 'Adult' },
    },
    order: { id: exampleId('ord'), order_number: '100023' },
    user,
    refund_request: null,
    occurred_at: at,
  },
  'wallet.vendorA.pass-added': { ...passChange, pass: { ...pass, provider: 'vendorA', platform: 'apple' } },
  'wallet.vendorA.pass-removed': { ...passChange, pass: { ...pass, provider: 'vendorA', platform: 'apple' } },
  'wallet.vendorB.pass-added': { ...passChange, pass: { ...pass, provider: 'vendorB', platform: 'google' } },
  'order.created': orderChange,
  'order.updated': { ...orderChange, previous_status: 'pending' },
  'order.cancelled': { ...orderChange, order: { ...order, status: 'cancelled' }, previous_status: 'completed' },
  'refund.completed': refundChange,
  'refund.failed': {
    ...refundChange,
    refund_request: { ...refund, status: 'failed', failure_code: 'insufficient_funds' },
  },
  'import.completed': {
    data_import: {
      id: exampleId('imp'),
      source: 'csv',
      kind: 'orders',
      status: 'completed',
      total_rows: 1200,
      created_orders: 480,
      updated_orders: 12,
      skipped_orders: 0,
      failed_orders: 0,
    },
    occurred_at: at,
  },
  'campaign.sent': {
    campaign: {
      id: exampleId('cmp'),
      channel: 'email',
      total_recipients: 5000,
      sent_count: 4990,
      failed_count: 10,
      skipped_count: 3,
    },
    occurred_at: at,
  },
  'message.bounced': { ...messageReport, reason: 'hard' },
  'message.complained': { ...messageReport, reason: 'complaint' },
  'user.updated': { user: customer, fields: ['first_name', 'phone_number'], occurred_at: at },
  'user.merged': { user: { api_id: 'usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F9' }, merged_into: customer, occurred_at: at },
  'webhook.disabled': { webhook: { id: exampleId('whk') }, reason: 'failing', occurred_at: at },
}

export const buildExamplePayload = (kind: EventKind) => ({
  id: exampleId('evn'),
  type: kind,
  created: at,
  api_version: 'v1' as const,
  organization_id: exampleId('org'),
  edition_id: exampleId('edt'),
  data: exampleData[kind],
})
