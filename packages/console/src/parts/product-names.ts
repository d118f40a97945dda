import { useQuery } from '@tanstack/react-query'
import { get } from '../api'

/** The names of the products of an edition by id. */
export function useProductNames(edition: string): Readonly<Record<string, string>> {
  const query = { edition_id: edition, page_size: 500, ordering: ['name' as const] }
  const products = useQuery({
    ...get('/v1/products', { params: { query } }),
    enabled: edition !== '',
    staleTime: 60_000,
  })
  return Object.fromEntries((products.data?.results ?? []).map(({ id, name }) => [id, name]))
}
