import { useQuery } from '@tanstack/react-query'
import { get, type Schema } from '../../api'

export type EndpointDetail = Schema['WebhookEndpointDetail']

const pollMs = 15_000

type DeliveryStatusCode = Schema['WebhookDelivery']['status']

/** The number of deliveries of an endpoint with a status. */
function useDeliveryCount(id: string, status: DeliveryStatusCode, window: object = {}): number | undefined {
  const query = { status, page_size: 1, ...window }
  const list = useQuery({
    ...get('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query } }),
    refetchInterval: pollMs,
  })
  return list.data?.count
}

const addCounts = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? undefined : one + other

export const useOpenCount = (id: string, window?: object): number | undefined =>
  addCounts(useDeliveryCount(id, 'pending', window), useDeliveryCount(id, 'retrying', window))

export const useLostCount = (id: string, window?: object): number | undefined =>
  addCounts(useDeliveryCount(id, 'failed', window), useDeliveryCount(id, 'exhausted', window))
