import { Anchor, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { get, getList, type Schema } from '../../api'
import { useCaller, useOrganizationId } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { RoleGate } from '../../parts/role-gate'
import { Time } from '../../parts/time'
import { formatCount, formatPercent, loadWords, plural, words } from '../../words'
import { CreateDialog } from './create-dialog'
import { DeliveryStatus, EndpointStatus } from './statuses'

const route = getRouteApi('/shell/editions/$edition/webhooks')
const t = await loadWords('webhooks')
const pageSize = 25

type Endpoint = Schema['WebhookEndpoint']

const filters: Filter[] = [{ key: 'is_active', label: t.on, kind: 'boolean' }]

export function Webhooks() {
  const [isOpen, dialog] = useDisclosure()
  const { edition } = route.useParams()
  const create = (
    <ActionButton operation="createWebhook" onClick={dialog.open}>
      {t.new}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading
        title={t.title}
        facts={
          <Group gap="md">
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link to="/editions/$edition/webhook-deliveries" params={{ edition }} {...props} />
              )}
            >
              {t.allDeliveries}
            </Anchor>
            <Anchor
              size="sm"
              renderRoot={(props) => <Link to="/editions/$edition/webhook-events" params={{ edition }} {...props} />}
            >
              {t.storedEvents}
            </Anchor>
          </Group>
        }
        actions={create}
      />
      <RoleGate operation="listWebhooks">
        <List create={create} />
      </RoleGate>
      <CreateDialog isOpen={isOpen} close={dialog.close} />
    </Stack>
  )
}

function List({ create }: { create: React.ReactNode }) {
  const { edition } = route.useParams()
  const search = route.useSearch()
  const organization = useOrganizationId()
  const editions = useCaller()?.editions ?? []
  const { ordering = 'name', ...others } = search
  const query = { organization_id: organization, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList('/v1/webhooks', { params: { query: query as { organization_id: string } } }),
    enabled: organization !== undefined,
    refetchInterval: 15_000,
  })
  const names = new Map(editions.map(({ id, full_name }) => [id, full_name]))
  return (
    <>
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="webhooks"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={listColumns(names)}
        rowKey={({ id }) => id}
        link={({ id }) => ({ to: '/editions/$edition/webhooks/$webhook', params: { edition, webhook: id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: create }}
      />
    </>
  )
}

const listColumns = (editions: ReadonlyMap<string, string>): Column<Endpoint>[] => [
  { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
  { key: 'status', label: words.common.status, cell: (endpoint) => <EndpointStatus {...endpoint} /> },
  {
    key: 'rate',
    label: t.successRate,
    isNumber: true,
    cell: ({ success_rate: rate }) => (rate === null ? '–' : formatPercent(rate)),
  },
  { key: 'last', label: t.lastDelivery, cell: (endpoint) => <LastDelivery endpoint={endpoint} /> },
  {
    key: 'url',
    label: t.url,
    cell: ({ url }) => (
      <Text size="sm" className="break" component="span">
        {url}
      </Text>
    ),
  },
  { key: 'events', label: t.eventKinds, isNumber: true, cell: ({ events }) => formatCount(events.length) },
  {
    key: 'edition',
    label: t.scope,
    cell: ({ edition_id }) => (edition_id === null ? t.allEditions : (editions.get(edition_id) ?? edition_id)),
  },
  { key: 'failing', label: t.failingSince, isHidden: true, cell: ({ failing_since: at }) => at && <Time at={at} /> },
]

/** The newest delivery of an endpoint. An organisation has few endpoints, and the list of them does not have it. */
function LastDelivery({ endpoint: { id, organization_id } }: { endpoint: Endpoint }) {
  const query = { organization_id: organization_id ?? undefined, endpoint_id: id, page_size: 1 }
  const last = useQuery(get('/v1/webhooks/deliveries', { params: { query } })).data?.results[0]
  if (!last) return null
  return (
    <Group gap={6} wrap="nowrap">
      <DeliveryStatus status={last.status} />
      <Time at={last.last_attempt_at ?? last.created} age />
    </Group>
  )
}
