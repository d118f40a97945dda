import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getList, type Schema } from '../../api'
import { useRefusalReason } from '../../caller'
import { Empty } from '../../parts/empty'
import { ExportButton } from '../../parts/export-button'
import { FilterBar } from '../../parts/filter-bar'
import { linkTo } from '../../parts/record-link'
import { type Column, RecordList } from '../../parts/record-list'
import { Time } from '../../parts/time'
import { loadWords, plural, words } from '../../words'

const route = getRouteApi('/shell/editions/$edition/segments/$segment')
const t = await loadWords('segments')
const pageSize = 50

type Member = Schema['SegmentUser']

const columns: Column<Member>[] = [
  {
    key: 'name',
    label: words.common.name,
    cell: ({ first_name, last_name, email, phone_number, id }) =>
      `${first_name} ${last_name}`.trim() || email || phone_number || id,
  },
  { key: 'email', label: words.common.email, cell: ({ email }) => email },
  { key: 'phone', label: words.common.phone, cell: ({ phone_number }) => phone_number },
  { key: 'consent', label: t.consentStatus, cell: ({ consent_status }) => t.answers[consent_status] },
  { key: 'joined', label: t.joined, sort: 'date_joined', cell: ({ date_joined }) => <Time at={date_joined} date /> },
]

/** The members of the last calculation. */
export function Members({ segment }: { segment: Schema['Segment'] }) {
  const { edition } = route.useParams()
  const { tab: _, user: __, ...search } = route.useSearch()
  const refusal = useRefusalReason('listSegmentUsers')
  const isReady = segment.status === 'ready'
  const { ordering = '-date_joined', ...others } = search
  const query = { page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList('/v1/segments/{id}/users', { params: { path: { id: segment.id }, query } }),
    enabled: isReady && refusal === null,
  })
  if (refusal !== null) return <Empty title={refusal} />
  if (!isReady) return <Empty title={t.notCalculated} hint={t.notCalculatedHint} />
  return (
    <Stack gap="sm">
      <FilterBar search={search} filters={[]} searchHint={t.memberSearchHint} />
      <RecordList
        name="segment-members"
        label={t.members}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => linkTo(`/editions/${edition}/customers/${id}`)}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.memberCount)}
        empty={{ title: t.noMembers, hint: t.noMembersHint }}
        actions={
          <ExportButton
            operation="exportSegmentUsers"
            path="/v1/segments/{id}/export"
            init={{ params: { path: { id: segment.id } } }}
            fileName={`${segment.id}.csv`}
          />
        }
      />
      <Text size="sm" c="dimmed">
        {t.asOf} <Time at={segment.calculated_at} />
      </Text>
    </Stack>
  )
}
