import { Anchor, Code, Drawer, Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { EmailFrame } from '../../parts/email-frame'
import { Facts } from '../../parts/facts'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Loaded } from '../../parts/loaded'
import { type Column, RecordList } from '../../parts/record-list'
import { useSearchChange } from '../../parts/search-change'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { loadWords, plural, words } from '../../words'
import { type CapturedMessage, loadMessage, loadMessages } from './service'

const route = getRouteApi('/shell/development')
const t = await loadWords('development')
const pageSize = 50

const filters: Filter[] = [
  { key: 'channel', label: t.channel, kind: 'choice', options: t.channels },
  { key: 'to', label: t.to, kind: 'text' },
]

const columns: Column<CapturedMessage>[] = [
  { key: 'subject', label: t.subject, cell: ({ subject, channel }) => subject || t.channels[channel] },
  { key: 'to', label: t.to, cell: ({ to }) => <span className="break">{to}</span> },
  { key: 'channel', label: t.channel, cell: ({ channel }) => t.channels[channel] },
  { key: 'created', label: words.common.created, cell: ({ created }) => <Time at={created} /> },
]

/** The messages that were stored instead of sent, the newest first. */
export function Outbox() {
  const { message, ...search } = route.useSearch()
  const list = useQuery({
    queryKey: ['outbox', search],
    queryFn: () => loadMessages({ ...search, page_size: pageSize }),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  })
  return (
    <Section title={t.outbox} hint={t.outboxHint}>
      <Stack gap="sm">
        <FilterBar search={search} filters={filters} />
        <RecordList
          name="outbox"
          label={words.common.entries.messaging}
          list={list}
          search={search}
          columns={columns}
          rowKey={({ id }) => id}
          link={({ id }) => ({ to: '/development', search: { ...search, message: id } })}
          pageSize={pageSize}
          countLabel={(count) => plural(count, t.count)}
          empty={{ title: t.empty, hint: t.emptyHint }}
        />
      </Stack>
      <Message id={message} />
    </Section>
  )
}

function Message({ id }: { id: string | undefined }) {
  const change = useSearchChange()
  const query = useQuery({
    queryKey: ['outbox message', id],
    queryFn: () => loadMessage(id ?? ''),
    enabled: id !== undefined,
  })
  return (
    <Drawer
      opened={id !== undefined}
      onClose={() => change.set({ message: undefined })}
      position="right"
      size="xl"
      title={query.data?.subject ?? t.outbox}
    >
      <Loaded query={query}>
        {({ html, text, subject, from, to, created }) => (
          <Stack gap="sm">
            <Facts
              facts={[
                [t.to, to],
                [words.common.created, <Time key="created" at={created} />],
              ]}
            />
            {html === null ? (
              <Code block className="code">
                {text}
              </Code>
            ) : (
              <EmailFrame html={html} text={text} subject={subject ?? ''} from={from} />
            )}
            <Anchor size="sm" href={`/dev/outbox/${encodeURIComponent(id ?? '')}`} target="_blank">
              {t.wholePage}
            </Anchor>
          </Stack>
        )}
      </Loaded>
    </Drawer>
  )
}
