import { useQuery } from '@tanstack/react-query'
import { get } from '../../api'

const isValid: Readonly<Record<string, boolean>> = { active: true, used: true }

/** The number of valid tickets of each product of the edition. Undefined while it loads. */
export function useSales(edition: string): ReadonlyMap<string, number> | undefined {
  const query = { group_by: ['product' as const, 'status' as const] }
  const stats = useQuery(get('/v1/editions/{id}/stats', { params: { path: { id: edition }, query } })).data
  if (!stats) return undefined
  const sales = new Map<string, number>()
  for (const { product, status, count } of stats.purchases)
    if (product && status && isValid[status]) sales.set(product.api_id, (sales.get(product.api_id) ?? 0) + count)
  return sales
}
