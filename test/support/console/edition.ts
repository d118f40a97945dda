import { randomUUID } from 'node:crypto'
import { createClient } from '../../../scripts/support/client.ts'
import type { ExternalOrder } from '../../../scripts/support/external-order.ts'
import type { ConsoleService } from './setup.ts'

/** Creates an edition of Nordlys Events without orders, in which a test disturbs nobody. */
export async function createEdition(
  { url, rootToken, ids }: ConsoleService,
  name: string,
  changes: { merchant_account_id?: string } = {},
): Promise<string> {
  const now = Date.now()
  const dayMs = 86_400_000
  const api = createClient(url, rootToken)
  const { id } = await api.post<{ id: string }>('/v1/editions', {
    organization_id: ids['nordlys'],
    event_id: ids['nordlys.event'],
    name,
    start_date: new Date(now + 30 * dayMs).toISOString(),
    end_date: new Date(now + 33 * dayMs).toISOString(),
    timezone: 'Europe/Copenhagen',
    default_country_code: '+45',
    default_language: 'en',
    enabled_languages: ['en', 'da'],
    tax_type: 'vat',
  })
  await api.patch(`/v1/editions/${id}`, { currency: 'dkk', ...changes })
  return id
}

type ImportOrder = ExternalOrder & { payment?: { service: 'test'; reference: string } }

/** Imports orders into an edition, and returns their ids. */
export async function importOrders(
  { url, rootToken, ids }: ConsoleService,
  edition_id: string,
  orders: readonly ImportOrder[],
): Promise<string[]> {
  const { results } = await createClient(url, rootToken).post<{ results: { order_id: string }[] }>(
    '/v1/data-imports/external-orders',
    { organization_id: ids['nordlys'], edition_id, source: 'shop', orders },
    randomUUID(),
  )
  return results.map(({ order_id }) => order_id)
}
