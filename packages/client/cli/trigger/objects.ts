import type { Client } from '../../src/index.ts'

export interface Tenant {
  organization_id: string
  edition_id: string
}

export interface Trigger {
  client: Client
  tenant: Tenant
  /** Makes names and addresses of this call unique. */
  stamp: string
  /** The address that a campaign is sent to. */
  recipient: string
  /** Notes an object, so that the command can say what it made. */
  add: (object: string, id: string) => void
}

const consentFields = {
  name: 'Example of ecm trigger',
  text: { en: 'Write to me about an example.' },
  type: 'marketing' as const,
  channels: ['email' as const],
}

/** The key of the example consent, or of the one whose answers expire after a day. */
export const consentKeys = { lasting: 'ecm-trigger', expiring: 'ecm-trigger-expiring' } as const

/** Finds the example consent of the edition, or creates it. */
export async function ensureConsent(trigger: Trigger, kind: keyof typeof consentKeys): Promise<string> {
  const { client, tenant, add } = trigger
  const key = consentKeys[kind]
  const { data: page } = await client.GET('/v1/consents', { params: { query: { ...tenant, search: key } } })
  const consent = page.results.find((result) => result.key === key && result.edition?.id === tenant.edition_id)
  if (consent) return consent.id
  // An edition's consent needs a text in the edition's default language.
  const { data: edition } = await client.GET('/v1/editions/{id}', { params: { path: { id: tenant.edition_id } } })
  const { data } = await client.POST('/v1/consents', {
    body: {
      ...tenant,
      ...consentFields,
      text: { ...consentFields.text, [edition.default_language]: consentFields.text.en },
      key,
      expires_after_days: kind === 'expiring' ? 1 : null,
    },
  })
  add('consent', data.id)
  return data.id
}

type UserFields = NonNullable<Parameters<typeof createUserBody>[1]>

const createUserBody = (
  { tenant, stamp }: Trigger,
  fields: { email?: string; consents?: Record<string, { status: 'given'; occurred_at: string }> } = {},
) => ({
  ...tenant,
  email: `ecm-${stamp}@example.com`,
  first_name: 'Example',
  last_name: `Customer ${stamp}`,
  emit_webhooks: true,
  ...fields,
})

export async function createCustomer(trigger: Trigger, fields: UserFields = {}): Promise<string> {
  const { data } = await trigger.client.POST('/v1/user', { body: createUserBody(trigger, fields) })
  trigger.add('customer', data.id)
  return data.id
}

/** Answers the example consent as a new customer. */
export async function answerConsent(
  trigger: Trigger,
  verb: 'give' | 'skip',
): Promise<{ id: string; consent_id: string }> {
  const consent_id = await ensureConsent(trigger, 'lasting')
  const path = { id: await createCustomer(trigger), consent_id }
  await trigger.client.POST(`/v1/user/{id}/consents/{consent_id}/${verb}`, { params: { path }, body: answerBody })
  return path
}

export const answerBody = { language: 'en' as const, method: 'admin' as const, source: 'ecm-trigger' }

interface ImportedOrder {
  id: string
  purchaseId: string
}

/** Imports an order with a ticket, which is announced. `handling_fee` is what a second import changes. */
export async function importOrder({ client, tenant, stamp, add }: Trigger, handling_fee = 0): Promise<ImportedOrder> {
  const { data } = await client.POST('/v1/data-imports/external-orders', {
    body: {
      ...tenant,
      source: 'ecm-trigger',
      on_duplicate: 'update',
      emit_webhooks: true,
      orders: [
        {
          external_id: stamp,
          currency: 'eur',
          customer: { email: `ecm-${stamp}@example.com`, first_name: 'Example', last_name: `Customer ${stamp}` },
          items: [{ product: 'Example ticket', quantity: 1, unit_price: 25, handling_fee }],
        },
      ],
    },
  })
  if (data.id !== null) add('import', data.id)
  const id = data.results?.[0]?.order_id
  if (!id) throw new Error('The order was not imported.')
  const { data: order } = await client.GET('/v1/orders/{id}', { params: { path: { id } } })
  const [purchase] = order.purchases
  if (!purchase) throw new Error('The order has no purchase.')
  add('order', id)
  add('purchase', purchase.id)
  return { id, purchaseId: purchase.id }
}
