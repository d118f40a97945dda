import { Text } from '@mantine/core'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { get } from '../../api'
import { useEdition, useOrganizationId, useRefusalReason } from '../../caller'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { type Column, type Page, RecordList } from '../../parts/record-list'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural, words } from '../../words'
import { eventKinds, nameKind } from './kinds'
import { DeliveryStatus } from './statuses'

const t = await loadWords('webhooks')

export const deliveryPageSize = 50
export const pollMs = 5000

type Delivery = Schema['WebhookDelivery']

interface Props {
  list: UseQueryResult<Page<Delivery>>
  search: { ordering?: string; page?: number }
  /** True if the deliveries are those of all endpoints. */
  hasEndpoints?: boolean
}

const baseFilters: Filter[] = [
  { key: 'status', label: words.common.status, kind: 'choice', options: t.statuses },
  {
    key: 'event',
    label: t.event,
    kind: 'choice',
    options: Object.fromEntries(eventKinds.map((kind) => [kind, nameKind(kind)])),
  },
  { key: 'response_status_code', label: t.answer, kind: 'text' },
  { key: 'created_after', label: t.createdAfter, kind: 'day', isExtra: true },
  { key: 'created_before', label: t.createdBefore, kind: 'day', last: true, isExtra: true },
  { key: 'resource_id', label: t.resourceId, kind: 'text', isExtra: true },
]

/** The endpoints of the organisation, for their names. */
export function useEndpoints(): ReadonlyMap<string, Schema['WebhookEndpoint']> {
  const organization = useOrganizationId()
  const query = { organization_id: organization, page_size: 500 }
  const list = useQuery({
    ...get('/v1/webhooks', { params: { query } }),
    enabled: organization !== undefined,
    staleTime: 60_000,
  }).data
  return new Map(list?.results.map((endpoint) => [endpoint.id, endpoint]))
}

export function DeliveryList({ list, search, hasEndpoints = false }: Props) {
  const { edition = '' } = useParams({ strict: false })
  const editionName = useEdition()?.full_name ?? edition
  const endpoints = useEndpoints()
  const reason = useRefusalReason('getWebhookDelivery')
  const names = Object.fromEntries([...endpoints].map(([id, { name }]) => [id, name]))
  const filters: Filter[] = [
    ...(hasEndpoints ? [{ key: 'endpoint_id', label: t.endpoint, kind: 'choice' as const, options: names }] : []),
    ...baseFilters,
    ...(hasEndpoints
      ? [
          {
            key: 'edition_id',
            label: t.scope,
            kind: 'choice' as const,
            options: { [edition]: editionName },
            isExtra: true,
          },
        ]
      : []),
  ]
  return (
    <>
      <FilterBar search={search} filters={filters} />
      {reason !== null && (
        <Text size="sm" c="dimmed">
          {t.attemptsHidden} {reason}.
        </Text>
      )}
      <RecordList
        name={hasEndpoints ? 'webhook-deliveries' : 'endpoint-deliveries'}
        label={t.deliveries}
        list={list}
        search={search}
        columns={hasEndpoints ? [kindColumn, endpointColumn(names), ...columns] : [kindColumn, ...columns]}
        rowKey={({ id }) => id}
        {...(reason === null && {
          link: ({ id, endpoint_id }: Delivery) => ({
            to: '/editions/$edition/webhooks/$webhook/deliveries/$delivery',
            params: { edition, webhook: endpoint_id, delivery: id },
          }),
        })}
        pageSize={deliveryPageSize}
        countLabel={(count) => plural(count, t.deliveryCount)}
        empty={{ title: t.noDeliveries, hint: t.noDeliveriesHint }}
      />
    </>
  )
}

const kindColumn: Column<Delivery> = {
  key: 'event',
  label: t.event,
  sort: 'name',
  cell: ({ event }) => <KindName kind={event} />,
}

/** The name of a kind with the code that programs see. */
export const KindName = ({ kind }: { kind: string }) => (
  <>
    {nameKind(kind)}{' '}
    <Text span size="xs" c="dimmed" fw={400}>
      {kind}
    </Text>
  </>
)

const endpointColumn = (names: Readonly<Record<string, string>>): Column<Delivery> => ({
  key: 'endpoint',
  label: t.endpoint,
  cell: ({ endpoint_id }) => names[endpoint_id] ?? endpoint_id,
})

const columns: Column<Delivery>[] = [
  { key: 'status', label: words.common.status, cell: ({ status }) => <DeliveryStatus status={status} /> },
  {
    key: 'answer',
    label: t.answer,
    isNumber: true,
    cell: ({ response_status_code: code, attempts }) => code ?? (attempts > 0 ? t.noAnswer : '–'),
  },
  { key: 'attempts', label: t.attempts, isNumber: true, cell: ({ attempts }) => formatCount(attempts) },
  {
    key: 'last',
    label: t.lastAttempt,
    sort: 'modified',
    cell: ({ last_attempt_at: at }) => (at === null ? '–' : <Time at={at} />),
  },
  {
    key: 'next',
    label: t.nextAttempt,
    cell: ({ next_retry_at: at }) => (at === null ? '–' : <Time at={at} age />),
  },
  { key: 'created', label: t.happened, sort: 'created', cell: ({ created }) => <Time at={created} /> },
]
