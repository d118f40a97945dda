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
