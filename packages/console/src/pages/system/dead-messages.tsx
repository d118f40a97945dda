import { Drawer, Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, getList, type Schema } from '../../api'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { CodeBlock } from '../../parts/code-block'
import { Facts } from '../../parts/facts'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { Refusal } from '../../parts/refusal'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { loadWords, plural, words } from '../../words'
import { SystemTabs } from './system-tabs'

const route = getRouteApi('/shell/system/dead-messages')
const t = await loadWords('system')
const pageSize = 50

type Message = Schema['DeadMessage']

const filters: Filter[] = [
  { key: 'queue', label: t.queue, kind: 'text' },
  { key: 'is_retried', label: t.isRetried, kind: 'boolean' },
  { key: 'created_after', label: t.from, kind: 'day', isExtra: true },
  { key: 'created_before', label: t.until, kind: 'day', last: true, isExtra: true },
]

const State = ({ message: { retried_at } }: { message: Message }) =>
  retried_at === null ? (
    <Status tone="bad" label={t.open} />
  ) : (
    <span>
      {t.retriedAt} <Time at={retried_at} age />
    </span>
  )

export function DeadMessages() {
  const search = route.useSearch()
  const [message, setMessage] = useState<Message | null>(null)
  const { ordering = '-created', ...others } = search
  const query = { page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery(getList('/v1/system/dead-messages', { params: { query } }))
  const columns: Column<Message>[] = [
    {
      key: 'queue',
      label: t.queue,
      cell: (one) => (
        <UnstyledButton className="link" fz="sm" onClick={() => setMessage(one)}>
          {one.queue}
        </UnstyledButton>
      ),
    },
    { key: 'state', label: words.common.status, cell: (one) => <State message={one} /> },
    { key: 'error', label: t.error, cell: ({ error }) => error ?? t.notStored },
    { key: 'created', label: words.common.created, sort: 'created', cell: ({ created }) => <Time at={created} /> },
  ]
  return (
    <Stack gap="sm">
      <Heading title={t.dead} facts={t.deadHint} />
      <SystemTabs />
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="dead-messages"
        label={t.dead}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.noDead, hint: t.noDeadHint }}
      />
      <Drawer opened={message !== null} onClose={() => setMessage(null)} position="right" size="lg" title={t.details}>
        {message && <Details message={message} close={() => setMessage(null)} />}
      </Drawer>
    </Stack>
  )
}

/** Bodies are JSON, but a long one ends after its first part. */
function formatBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

function Details({ message, close }: { message: Message; close: () => void }) {
  const retry = useChange(
    (id: string, headers) => api.POST('/v1/system/dead-messages/{id}/retry', { params: { path: { id } }, headers }),
    { done: t.retried, onSent: close },
  )
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [t.queue, message.queue],
          [words.common.created, <Time key="created" at={message.created} />],
          [words.common.status, <State key="state" message={message} />],
          [t.error, message.error ?? t.notStored],
        ]}
      />
      <CodeBlock text={formatBody(message.body)} name={t.body} />
      {message.retried_at === null && (
        <>
          <Text size="sm" c="dimmed">
            {t.retryHint}
          </Text>
          {retry.error && <Refusal error={retry.error} />}
          <ActionButton operation="retryDeadMessage" loading={retry.isPending} onClick={() => retry.mutate(message.id)}>
            {t.retry}
          </ActionButton>
        </>
      )}
    </Stack>
  )
}
