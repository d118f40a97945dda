import type { EventKind } from '../../../domain/webhooks/webhooks.ts'
import type { EventData } from './payload-contract.ts'

const idOf = (prefix: string) => `${prefix}_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8`

const at = '2026-06-01T08:00:00.000Z'
const user = { api_id: idOf('usr'), email: 'aegir@example.dk' }

const consentChange = {
  consent: { id: idOf('con'), key: 'newsletter', version: 1 },
  user,
  record_id: idOf('cre'),
  previous_status: null,
  occurred_at: at,
  expires_at: null,
  source: 'checkout',
}

const pass = { id: idOf('wps'), serial_number: '6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e' }
const passChange = { purchase: { id: idOf('pur') }, user, occurred_at: at }

/** What `data` looks like for each kind: shown in the catalogue and the document, and sent by tests of an endpoint. */
export const exampleData: { [Kind in EventKind]: EventData<Kind> } = {
  'consent.given': { ...consentChange, status: 'given', expires_at: '2028-06-01T08:00:00.000Z' },
  'consent.skipped': { ...consentChange, status: 'skipped' },
  'consent.withdrawn': { ...consentChange, status: 'withdrawn', previous_status: 'given', source: 'unsubscribe' },
  'consent.expired': { ...consentChange, status: 'expired', previous_status: 'given', expires_at: at },
  'purchase.action': {
    action: 'activated',
    purchase: {
      id: idOf('pur'),
      vendor_code: 'DAY',
      status: 'active',
      product: { api_id: idOf('prd'), name: 'Day ticket' },
      variant: { api_id: idOf('var'), name: 'Adult' },
    },
    order: { id: idOf('ord'), order_number: '100023' },
    user,
    refund_request: null,
    occurred_at: at,
  },
  'wallet.vendorA.pass-added': { ...passChange, pass: { ...pass, provider: 'vendorA', platform: 'apple' } },
  'wallet.vendorA.pass-removed': { ...passChange, pass: { ...pass, provider: 'vendorA', platform: 'apple' } },
  'wallet.vendorB.pass-added': { ...passChange, pass: { ...pass, provider: 'vendorB', platform: 'google' } },
}

export const examplePayload = (kind: EventKind) => ({
  id: idOf('evn'),
  type: kind,
  created: at,
  api_version: 'v1' as const,
  organization_id: idOf('org'),
  edition_id: idOf('edt'),
  data: exampleData[kind],
})
