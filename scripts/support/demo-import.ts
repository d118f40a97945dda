import type { Client } from './client.ts'
import { type ExternalOrder, ordersPerCall } from './external-order.ts'

interface Result {
  index: number
  external_id: string | null
  action: 'created' | 'updated' | 'skipped' | 'error'
  order_id: string | null
  errors: { code: string; detail: string; pointer: string | null }[]
}

export interface Tenant {
  organization_id: string
  edition_id: string
}

/** Brings the orders in, as many a call as the API takes, and answers what became of each. */
export async function importOrders(
  client: Client,
  tenant: Tenant,
  orders: readonly ExternalOrder[],
): Promise<Result[]> {
  const results: Result[] = []
  for (let start = 0; start < orders.length; start += ordersPerCall) {
    const part = orders.slice(start, start + ordersPerCall)
    const body = { ...tenant, source: 'online-retail', orders: part }
    const answer = await client.post<{ results: Result[] }>('/v1/data-imports/external-orders', body)
    results.push(...answer.results)
  }
  return results
}

/** Where an error is, without the positions: `#/orders/3/items/0/product` is `items/product`. */
const place = (pointer: string | null): string =>
  (pointer ?? '').replace(/^#\/orders\/\d+\/?/, '').replaceAll(/\/\d+/g, '')

/** What became of the orders; refusals by their reason, each with an example. */
export function account(results: readonly Result[]): string[] {
  const actions = Map.groupBy(results, (result) => result.action)
  const counted = [...actions].map(([action, of]) => `${of.length} ${action === 'error' ? 'refused' : action}`)
  const refusals = results.flatMap(({ external_id, errors }) =>
    errors.map(({ detail, pointer }) => ({ external_id, reason: `${place(pointer)}: ${detail}` })),
  )
  const reasons = [...Map.groupBy(refusals, (refusal) => refusal.reason)].map(
    ([reason, of]) => `because of ${reason} (${of.length} ×, as in invoice ${of[0]?.external_id})`,
  )
  return [counted.join(', '), ...reasons]
}
