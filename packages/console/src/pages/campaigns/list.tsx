import { Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { get, getList } from '../../api'
import { useArchivedReason } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { StateBar } from '../../parts/state-bar'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural, words } from '../../words'
import { CampaignStatus } from './campaign-status'
import { CreateCampaign } from './create-campaign'
import { type Campaign, isRunning } from './types'

const route = getRouteApi('/shell/editions/$edition/campaigns')
const t = await loadWords('campaigns')
const pageSize = 50

/** Counts the recipients who have the message, and the others. A draft has no recipients yet. */
function Delivery({
  campaign: { status, total_recipients: total, sent_count: sent, failed_count: failed },
}: {
  campaign: Campaign
}) {
  if (status === 'draft' || (total === 0 && !isRunning(status)))
    return (
      <Text size="sm" c="dimmed">
        –
      </Text>
    )
  const rest = total - sent - failed
  return (
    <Stack gap={2} miw={130}>
      <Text size="sm" component="span" className="nowrap">
        <b>{formatCount(sent)}</b> / {formatCount(total)}
        {failed > 0 && (
          <Text component="span" size="sm" c="var(--mantine-color-error)">
            {' '}
            · {plural(failed, t.failedCount)}
          </Text>
        )}
      </Text>
      <StateBar
        total={total}
        hasLegend={false}
        size={5}
        parts={[
          { key: 'sent', label: t.states.sent, count: sent, colour: 'teal.6' },
          { key: 'failed', label: t.states.failed, count: failed, colour: 'red.6' },
          {
            key: 'rest',
            label: status === 'cancelled' ? t.states.cancelled : t.states.pending,
            count: rest,
            colour: 'gray.5',
          },
        ]}
      />
    </Stack>
  )
}

const columns: Column<Campaign>[] = [
  { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
  { key: 'status', label: words.common.status, cell: (campaign) => <CampaignStatus campaign={campaign} /> },
  {
    key: 'sent',
    label: t.sentOfTotal,
    sort: 'total_recipients',
    isMain: true,
    cell: (campaign) => <Delivery campaign={campaign} />,
  },
  { key: 'channel', label: t.channel, cell: ({ channel }) => t.channels[channel] },
  { key: 'segment', label: t.segment, cell: ({ segment }) => segment.name },
  {
    key: 'scheduled',
    label: t.scheduledFor,
    sort: 'scheduled_at',
    cell: ({ scheduled_at }) => (scheduled_at === null ? '' : <Time at={scheduled_at} />),
  },
  { key: 'created', label: words.common.created, sort: 'created', cell: ({ created }) => <Time at={created} /> },
  {
    key: 'modified',
    label: words.common.modified,
    sort: 'modified',
    isHidden: true,
    cell: ({ modified }) => <Time at={modified} />,
  },
]

const filters: Filter[] = [
  { key: 'status', label: words.common.status, kind: 'choice', options: t.statuses },
  { key: 'channel', label: t.channel, kind: 'choice', options: t.channels },
  { key: 'is_paused', label: t.paused, kind: 'boolean' },
]

/** Filters to which other pages link: they can be taken away here. */
function useLinkFilters(
  { segment_id, email_message_id }: { segment_id?: string; email_message_id?: string },
  rows: readonly Campaign[] | undefined,
): Filter[] {
  const message = useQuery({
    ...get('/v1/email-messages/{id}', { params: { path: { id: email_message_id ?? '' } } }),
    enabled: email_message_id !== undefined,
  })
  const filter = (key: string, label: string, id: string | undefined, name: string | undefined): Filter[] =>
    id === undefined ? [] : [{ key, label, kind: 'choice', options: { [id]: name ?? id } }]
  return [
    ...filter('segment_id', t.segment, segment_id, rows?.[0]?.segment.name),
    ...filter('email_message_id', t.message, email_message_id, message.data?.title),
  ]
}

export function Campaigns() {
  const { edition } = route.useParams()
  const search = route.useSearch()
  const [isCreating, creating] = useDisclosure()
  const { ordering = '-created', ...others } = search
  const query = { edition_id: edition, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList('/v1/campaigns', { params: { query } }),
    refetchInterval: ({ state }) => (state.data?.data.results.some(({ status }) => isRunning(status)) ? 3000 : 30_000),
  })
  const create = (
    <ActionButton
      operation="createCampaign"
      reason={useArchivedReason()}
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={creating.open}
    >
      {t.create}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading title={t.title} actions={create} />
      <FilterBar
        search={search}
        filters={[...filters, ...useLinkFilters(search, list.data?.results)]}
        searchHint={t.searchHint}
      />
      <RecordList
        name="campaigns"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => ({ to: '/editions/$edition/campaigns/$campaign', params: { edition, campaign: id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: <Group>{create}</Group> }}
      />
      <CreateCampaign isOpen={isCreating} close={creating.close} />
    </Stack>
  )
}
