import { SegmentedControl, Select, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, get, getList, type Schema } from '../../api'
import { useEdition, useOrganizationId } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { useSearchChange } from '../../parts/search-change'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural, words } from '../../words'
import { SegmentStatus } from './segment-status'

const route = getRouteApi('/shell/editions/$edition/segments')
const t = await loadWords('segments')
const pageSize = 50

type Segment = Schema['Segment']

const columns: Column<Segment>[] = [
  { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
  { key: 'status', label: words.common.status, cell: ({ status }) => <SegmentStatus status={status} /> },
  {
    key: 'members',
    label: t.members,
    sort: 'user_count',
    isNumber: true,
    cell: ({ user_count, calculated_at }) => (calculated_at === null ? '–' : formatCount(user_count)),
  },
  {
    key: 'audience',
    label: t.audience,
    cell: ({ communication_type, communication_channel }) =>
      `${t.types[communication_type]} · ${t.channels[communication_channel]}`,
  },
  { key: 'edition', label: t.scope, cell: ({ edition }) => edition?.full_name ?? words.common.organization },
  {
    key: 'calculated',
    label: t.calculated,
    isNamed: true,
    sort: 'calculated_at',
    cell: ({ calculated_at }) => <Time at={calculated_at} age />,
  },
  {
    key: 'campaigns',
    label: words.common.entries.campaigns,
    isNumber: true,
    isNamed: true,
    cell: ({ campaigns_count }) => formatCount(campaigns_count),
  },
  {
    key: 'created',
    label: words.common.created,
    sort: 'created',
    isHidden: true,
    cell: ({ created }) => <Time at={created} />,
  },
]

const filters: Filter[] = [
  { key: 'status', label: words.common.status, kind: 'choice', options: t.statuses },
  { key: 'communication_type', label: t.type, kind: 'choice', options: t.types },
  { key: 'communication_channel', label: t.channel, kind: 'choice', options: t.channels },
]

export function Segments() {
  const { edition } = route.useParams()
  const organization = useOrganizationId()
  const { only, ...search } = route.useSearch()
  const { ordering = '-created', ...others } = search
  const change = useSearchChange()
  const owner = only === 'edition' ? { edition_id: edition } : { organization_id: organization }
  const query = { ...owner, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList('/v1/segments', { params: { query } }),
    enabled: organization !== undefined,
  })
  return (
    <Stack gap="sm">
      <Heading title={t.title} actions={<CreateButton />} />
      <SegmentedControl
        w="fit-content"
        maw="100%"
        aria-label={t.scope}
        value={only ?? 'all'}
        onChange={(next) => change.set({ only: next === 'edition' ? next : undefined })}
        data={[
          { value: 'all', label: t.ofOrganization },
          { value: 'edition', label: t.ofEdition },
        ]}
      />
      <FilterBar search={search} filters={filters} searchHint={t.searchHint} />
      <RecordList
        name="segments"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => ({ to: '/editions/$edition/segments/$segment', params: { edition, segment: id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: <CreateButton /> }}
      />
    </Stack>
  )
}

const everybody = 'true'

/** A segment begins with everybody or with an example. Its condition is written on its page. */
function CreateButton() {
  const [isOpen, dialog] = useDisclosure()
  const edition = useEdition()
  const navigate = useNavigate()
  const editionId = edition?.id ?? ''
  const examples = useQuery({
    ...get('/v1/segments/cel-context', { params: { query: { edition_id: editionId } } }),
    enabled: isOpen && editionId !== '',
    staleTime: 60_000,
  }).data?.examples
  return (
    <>
      <ActionButton operation="createSegment" leftSection={<IconPlus size={16} aria-hidden />} onClick={dialog.open}>
        {t.create}
      </ActionButton>
      <FormDialog
        title={t.create}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{
          name: '',
          communication_type: 'marketing',
          communication_channel: 'email',
          scope: 'edition',
          expression: everybody,
        }}
        send={async ({ scope, ...values }, headers) => {
          const body = {
            ...values,
            organization_id: edition?.organization.id ?? '',
            edition_id: scope === 'edition' ? editionId : null,
          }
          return (await api.POST('/v1/segments', { body: body as never, headers })).data
        }}
        onSent={({ id }) =>
          navigate({ to: '/editions/$edition/segments/$segment', params: { edition: editionId, segment: id } })
        }
        submitLabel={words.common.create}
      >
        {(form) => (
          <>
            <TextInput label={words.common.name} required data-autofocus {...form.getInputProps('name')} />
            <Select
              label={t.type}
              description={t.typeHints[form.values.communication_type as Segment['communication_type']]}
              allowDeselect={false}
              data={toOptions(t.types)}
              {...form.getInputProps('communication_type')}
            />
            <Select
              label={t.channel}
              allowDeselect={false}
              data={toOptions(t.channels)}
              {...form.getInputProps('communication_channel')}
            />
            <Select
              label={t.scope}
              allowDeselect={false}
              data={[
                { value: 'edition', label: t.ofEdition },
                { value: 'organization', label: t.wholeOrganization },
              ]}
              {...form.getInputProps('scope')}
            />
            <Select
              label={t.beginWith}
              description={t.beginHint}
              allowDeselect={false}
              data={[
                { value: everybody, label: t.conditions.everybody },
                ...(examples ?? []).map(({ title, expression }) => ({ value: expression, label: title })),
              ]}
              {...form.getInputProps('expression')}
            />
          </>
        )}
      </FormDialog>
    </>
  )
}

const toOptions = (labels: Record<string, string>) => Object.entries(labels).map(([value, label]) => ({ value, label }))
