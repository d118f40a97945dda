import { Modal, Stack, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { getList, type Schema } from '../../api'
import { useOrganizationId } from '../../caller'
import { CodeBlock } from '../../parts/code-block'
import { Copy } from '../../parts/copy'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { RoleGate } from '../../parts/role-gate'
import { Time } from '../../parts/time'
import { loadWords, plural } from '../../words'
import { formatPayload } from './delivery'
import { KindName, pollMs } from './delivery-list'
import { eventKinds, nameKind } from './kinds'

const route = getRouteApi('/shell/editions/$edition/webhook-events')
const t = await loadWords('webhooks')
const pageSize = 50

type StoredEvent = Schema['StoredWebhookEvent']

const filters: Filter[] = [
  {
    key: 'kind',
    label: t.event,
    kind: 'choice',
    options: Object.fromEntries(eventKinds.map((kind) => [kind, nameKind(kind)])),
  },
  { key: 'resource_id', label: t.resourceId, kind: 'text' },
  { key: 'created_after', label: t.createdAfter, kind: 'day', isExtra: true },
  { key: 'created_before', label: t.createdBefore, kind: 'day', last: true, isExtra: true },
]

/** Everything that happened, whether an endpoint subscribes to it or not. */
export function Events() {
  const { edition } = route.useParams()
  return (
    <Stack gap="sm">
      <Heading
        title={t.storedEvents}
        facts={t.storedEventsHint}
        back={{ link: { to: '/editions/$edition/webhooks', params: { edition } }, label: t.title }}
      />
      <RoleGate operation="listWebhookEvents">
        <List />
      </RoleGate>
    </Stack>
  )
}

function List() {
  const { edition } = route.useParams()
  const { event, ...search } = route.useSearch()
  const navigate = useNavigate()
  const organization = useOrganizationId()
  const { ordering = '-cursor', kind, ...others } = search
  const query = {
    organization_id: organization,
    edition_id: edition,
    page_size: pageSize,
    ...others,
    ...(kind !== undefined && { kind: [kind] }),
    ordering: [ordering],
  }
  const list = useQuery({
    ...getList('/v1/webhooks/events', { params: { query } }),
    enabled: organization !== undefined,
    refetchInterval: pollMs,
  })
  const show = (id: string | undefined) =>
    void navigate({ to: '.', search: (old) => ({ ...old, event: id }), replace: true })
  const openEvent = list.data?.results.find(({ id }) => id === event)
  return (
    <>
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="webhook-events"
        label={t.storedEvents}
        list={list}
        search={{ ...search, ordering }}
        columns={listColumns(show)}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.storedEventCount)}
        empty={{ title: t.noStoredEvents }}
      />
      <Modal
        opened={openEvent !== undefined}
        onClose={() => show(undefined)}
        title={openEvent && nameKind(openEvent.kind)}
        size="lg"
      >
        {openEvent && <CodeBlock name={t.payload} text={formatPayload(openEvent.payload)} height={560} />}
      </Modal>
    </>
  )
}

const listColumns = (show: (id: string) => void): Column<StoredEvent>[] => [
  {
    key: 'kind',
    label: t.event,
    cell: ({ id, kind }) => (
      <UnstyledButton className="link" fz="sm" onClick={() => show(id)}>
        <KindName kind={kind} />
      </UnstyledButton>
    ),
  },
  { key: 'created', label: t.happened, sort: 'cursor', cell: ({ created }) => <Time at={created} /> },
  {
    key: 'id',
    label: t.eventId,
    cell: ({ id }) => (
      <span className="break">
        {id} <Copy text={id} name={t.eventId} />
      </span>
    ),
  },
]
