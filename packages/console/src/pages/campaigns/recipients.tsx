import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getList } from '../../api'
import { useCaller, useRefusalReason } from '../../caller'
import { Empty } from '../../parts/empty'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { nameLanguage } from '../../parts/names'
import { type Column, RecordList } from '../../parts/record-list'
import { Status, type Tone } from '../../parts/status'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural, words } from '../../words'
import { CampaignStatus } from './campaign-status'
import { campaignQuery } from './draft'
import { type RecipientFilter, SegmentButton } from './segment-dialog'
import { type CampaignDetail, isRunning, pollMs, type Recipient } from './types'

const route = getRouteApi('/shell/editions/$edition/campaigns/$campaign/recipients')
const t = await loadWords('campaigns')
const pageSize = 50

const tones: Record<Recipient['state'], Tone> = {
  pending: 'wait',
  sent: 'good',
  failed: 'bad',
  skipped: 'none',
  cancelled: 'none',
}

const time = (at: string | null) => (at === null ? '' : <Time at={at} />)

/** The state, and why the person got nothing. */
const State = ({ recipient: { state, reason, error_code, error_detail } }: { recipient: Recipient }) => (
  <>
    <Status tone={tones[state]} label={t.states[state]} />
    {reason !== null && (
      <Text size="sm" component="span" className="break">
        {' '}
        {t.reasons[reason]}
      </Text>
    )}
    {error_detail !== '' && (
      <Text size="xs" c="dimmed" className="break">
        {error_code} {error_detail}
      </Text>
    )}
  </>
)

const columns: Column<Recipient>[] = [
  {
    key: 'name',
    label: words.common.customer,
    cell: ({ user, address }) => user.full_name.trim() || address || user.api_id,
  },
  { key: 'address', label: t.address, cell: ({ address }) => <span className="break">{address}</span> },
  { key: 'state', label: words.common.status, cell: (recipient) => <State recipient={recipient} /> },
  { key: 'language', label: words.common.language, cell: ({ language }) => nameLanguage(language) },
  { key: 'sent', label: t.sentAt, sort: 'sent_at', cell: ({ sent_at }) => time(sent_at) },
  { key: 'delivered', label: t.engagements.delivered, isHidden: true, cell: ({ delivered_at }) => time(delivered_at) },
  { key: 'opened', label: t.engagements.opened, cell: ({ opened_at }) => time(opened_at) },
  { key: 'clicked', label: t.engagements.clicked, cell: ({ clicked_at }) => time(clicked_at) },
  {
    key: 'ended',
    label: t.lost,
    cell: ({ bounced_at, complained_at, unsubscribed_at }) =>
      [
        bounced_at && t.engagements.bounced,
        complained_at && t.engagements.complained,
        unsubscribed_at && t.engagements.unsubscribed,
      ]
        .filter(Boolean)
        .join(', '),
  },
  {
    key: 'machine',
    label: t.openedByMachine,
    isHidden: true,
    cell: ({ machine_opened_at }) => time(machine_opened_at),
  },
  { key: 'attempts', label: t.attempts, isNumber: true, isHidden: true, cell: ({ attempts }) => formatCount(attempts) },
  { key: 'provider', label: t.providerId, isHidden: true, cell: ({ provider_id }) => provider_id ?? '' },
]

const filters: Filter[] = [
  { key: 'state', label: words.common.status, kind: 'choice', options: t.states },
  { key: 'engagement', label: t.engagement, kind: 'choice', options: t.engagements },
  { key: 'reason', label: t.reason, kind: 'choice', options: t.reasons },
]

export function Recipients() {
  const { campaign: id } = route.useParams()
  const query = useQuery({ ...campaignQuery(id), refetchInterval: ({ state }) => pollMs(state.data?.data) })
  return <Loaded query={query}>{({ data }) => <RecipientList campaign={data} />}</Loaded>
}

function RecipientList({ campaign }: { campaign: CampaignDetail }) {
  const { edition } = route.useParams()
  const { id, name } = campaign
  const search = route.useSearch()
  const refusal = useRefusalReason('listCampaignRecipients')
  const links = useQuery(getList('/v1/campaigns/{id}/links', { params: { path: { id }, query: { page_size: 500 } } }))
  const { link, ordering, ...others } = search
  const query = {
    ...others,
    page_size: pageSize,
    ...(link === undefined ? {} : { link: Number(link) }),
    ...(ordering === undefined ? {} : { ordering: [ordering] }),
  }
  const list = useQuery({
    ...getList('/v1/campaigns/{id}/recipients', { params: { path: { id }, query } }),
    enabled: refusal === null,
    refetchInterval: isRunning(campaign.status) ? 3000 : 30_000,
  })
  const urls = Object.fromEntries((links.data?.results ?? []).map(({ position, url }) => [String(position), url]))
  const isOfOrganization = useCaller()?.organizations.some(({ role }) => role !== null) ?? false
  return (
    <Stack gap="sm">
      <Heading
        title={`${t.recipients} · ${name}`}
        mark={<CampaignStatus campaign={campaign} />}
        back={{
          link: { to: '/editions/$edition/campaigns/$campaign', params: { edition, campaign: id } },
          label: name,
        }}
        actions={<SegmentOfFilters campaign={campaign} search={search} url={urls[link ?? '']} />}
      />
      {refusal !== null ? (
        <Empty title={t.recipientsRefused} hint={refusal} />
      ) : (
        <>
          <FilterBar
            search={search}
            searchHint={t.recipientSearchHint}
            filters={[...filters, { key: 'link', label: t.clickedLink, kind: 'choice', options: urls, isExtra: true }]}
          />
          <RecordList
            name="recipients"
            label={t.recipients}
            list={list}
            search={search}
            columns={columns.map((column) =>
              column.key === 'address' && isOfOrganization ? { ...column, sort: 'address' } : column,
            )}
            rowKey={(recipient) => recipient.id}
            link={(recipient) => ({
              to: '/editions/$edition/customers/$customer',
              params: { edition, customer: recipient.id },
            })}
            pageSize={pageSize}
            countLabel={(count) => plural(count, t.people)}
            empty={{ title: t.noRecipients, hint: t.noRecipientsHint }}
          />
        </>
      )}
    </Stack>
  )
}

type RecipientFilterSearch = Omit<RecipientFilter, 'link'> & { link?: string; search?: string }

interface SegmentProps {
  campaign: CampaignDetail
  search: RecipientFilterSearch
  url: string | undefined
}

/** A segment of what the filters select. Its expression knows no search and nobody who waits. */
function SegmentOfFilters({ campaign, search: { state, reason, engagement, link, search }, url }: SegmentProps) {
  const isOpenState = state === 'pending' || state === 'cancelled'
  const name = [
    engagement && t.segmentNames[engagement],
    link && (url ?? t.link),
    reason && t.reasons[reason],
    state && !engagement && !reason && t.states[state],
  ]
    .filter(Boolean)
    .join(', ')
  return (
    <SegmentButton
      campaign={campaign}
      filter={{ state, reason, engagement, ...(link === undefined ? {} : { link: Number(link) }) }}
      name={name || t.recipients}
      reason={
        campaign.started_at === null
          ? t.reasonsWhyNot.notStarted
          : isOpenState
            ? t.reasonsWhyNot.openState
            : search !== undefined
              ? t.reasonsWhyNot.search
              : null
      }
    />
  )
}
