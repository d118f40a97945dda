import { Alert, Button, Select, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, get, getList, getWithEtag, type Schema } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { toInstant } from '../../parts/days'
import { EditDialog } from '../../parts/edit-form'
import { EditionState } from '../../parts/edition-state'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { type LanguageCode, languageOptions } from '../../parts/names'
import { linkTo } from '../../parts/record-link'
import { type Column, RecordList } from '../../parts/record-list'
import { Section } from '../../parts/section'
import { formatCount, formatDate, loadWords, plural, words } from '../../words'

const organizationsWords = await loadWords('organizations')

const route = getRouteApi('/shell/organizations/$organization/editions')
const t = organizationsWords.editions
const pageSize = 50
/** An organisation has few events. The field with all of them is a `Select`. */
const maxEvents = 500

type Edition = Schema['EditionListItem']

function writeDates({ start_date, end_date, timezone }: Edition): string {
  const [start, end] = [start_date, end_date].map((at) => at && formatDate(at, timezone))
  return start === end || !end ? (start ?? '–') : `${start ?? '–'} – ${end}`
}

const columns: Column<Edition>[] = [
  { key: 'name', label: words.common.name, sort: 'name', cell: (edition) => edition.full_name },
  { key: 'state', label: t.state, cell: (edition) => <EditionState edition={edition} /> },
  { key: 'when', label: words.common.status, cell: ({ status }) => t.statuses[status] },
  { key: 'dates', label: t.dates, sort: 'start_date', cell: writeDates },
  { key: 'zone', label: t.zone, cell: ({ timezone }) => timezone },
  { key: 'slug', label: organizationsWords.settings.slug, isHidden: true, cell: ({ slug }) => slug },
]

export function Editions() {
  const { organization } = route.useParams()
  const search = route.useSearch()
  const [isCreating, setCreating] = useState(false)
  const { ordering = '-start_date', ...others } = search
  const query = { organization_id: organization, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery(getList('/v1/editions', { params: { query } }))
  const events = useQuery(
    get('/v1/events', {
      params: { query: { organization_id: organization, page_size: maxEvents, ordering: ['name'] } },
    }),
  )
  const names = Object.fromEntries((events.data?.results ?? []).map(({ id, name }) => [id, name]))
  const filters: Filter[] = [
    { key: 'event_id', label: t.event, kind: 'choice', options: names },
    { key: 'status', label: words.common.status, kind: 'choice', options: t.statuses },
    { key: 'is_draft', label: t.isDraft, kind: 'boolean' },
    { key: 'is_archived', label: t.isArchived, kind: 'boolean' },
  ]
  const create = (
    <ActionButton
      operation="createEdition"
      reason={events.data?.count === 0 ? t.needsEvent : null}
      onClick={() => setCreating(true)}
    >
      {t.create}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading title={t.title} actions={create} />
      <FilterBar search={search} filters={filters} searchHint={t.searchHint} />
      <RecordList
        name="editions"
        label={words.common.edition}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => linkTo(`/editions/${id}`)}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: create }}
      />
      <Events organization={organization} />
      <CreateEdition organization={organization} events={names} isOpen={isCreating} close={() => setCreating(false)} />
    </Stack>
  )
}

function Events({ organization }: { organization: string }) {
  const [isCreating, setCreating] = useState(false)
  const [renamed, setRenamed] = useState<Schema['Event'] | null>(null)
  const [size, setSize] = useState(10)
  const query = { organization_id: organization, page_size: size, ordering: ['name' as const] }
  const events = useQuery(getList('/v1/events', { params: { query } }))
  return (
    <Section
      title={t.events}
      hint={t.eventsHint}
      actions={
        <ActionButton operation="createEvent" variant="default" size="xs" onClick={() => setCreating(true)}>
          {t.createEvent}
        </ActionButton>
      }
    >
      <Loaded query={events} heights={[90]}>
        {({ results, count }) =>
          count === 0 ? (
            <Text size="sm" c="dimmed">
              {t.noEvents}
            </Text>
          ) : (
            <>
              <Table>
                <Table.Tbody>
                  {results.map((event) => (
                    <Table.Tr key={event.id}>
                      <Table.Td className="break">{event.name}</Table.Td>
                      <Table.Td ta="right">
                        <ActionButton
                          operation="updateEvent"
                          size="compact-sm"
                          variant="default"
                          onClick={() => setRenamed(event)}
                        >
                          {t.renameEvent}
                        </ActionButton>
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
              {count > results.length && (
                <Button variant="subtle" size="xs" onClick={() => setSize(maxEvents)}>
                  {t.moreEvents} ({formatCount(count - results.length)})
                </Button>
              )}
            </>
          )
        }
      </Loaded>
      <EventDialogs
        organization={organization}
        isCreating={isCreating}
        renamed={renamed}
        close={() => {
          setCreating(false)
          setRenamed(null)
        }}
      />
    </Section>
  )
}

interface EventDialogProps {
  organization: string
  isCreating: boolean
  renamed: Schema['Event'] | null
  close: () => void
}

const EventDialogs = ({ organization, isCreating, renamed, close }: EventDialogProps) => (
  <>
    <FormDialog
      title={t.createEvent}
      isOpen={isCreating}
      close={close}
      submitLabel={words.common.create}
      initialValues={{ name: '' }}
      send={(values, headers) =>
        api.POST('/v1/events', { body: { ...values, organization_id: organization }, headers })
      }
    >
      {(form) => (
        <TextInput label={words.common.name} required data-autofocus maxLength={200} {...form.getInputProps('name')} />
      )}
    </FormDialog>
    {renamed && (
      <EditDialog
        title={t.renameEvent}
        query={getWithEtag('/v1/events/{id}', { params: { path: { id: renamed.id } } })}
        close={close}
        operation="updateEvent"
        read={({ name }: Schema['Event']) => ({ name })}
        labels={{ name: words.common.name }}
        save={(body, headers) => api.PATCH('/v1/events/{id}', { params: { path: { id: renamed.id } }, body, headers })}
      >
        {(form) => (
          <>
            <Alert variant="default">{t.renameHint}</Alert>
            <TextInput label={words.common.name} required data-autofocus {...form.getInputProps('name')} />
          </>
        )}
      </EditDialog>
    )}
  </>
)

interface CreateProps {
  organization: string
  events: Record<string, string>
  isOpen: boolean
  close: () => void
}

function CreateEdition({ organization, events, isOpen, close }: CreateProps) {
  const navigate = useNavigate()
  const [first] = Object.keys(events)
  return (
    <FormDialog
      title={t.create}
      isOpen={isOpen}
      close={close}
      size="lg"
      submitLabel={t.create}
      done={t.created}
      initialValues={
        {
          event_id: first ?? '',
          name: '',
          timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
          start_date: '',
          end_date: '',
          default_country_code: '+45',
          default_language: 'en',
        } as EditionValues
      }
      send={({ start_date, end_date, ...body }, headers) =>
        api.POST('/v1/editions', {
          body: {
            ...body,
            organization_id: organization,
            ...(start_date && { start_date: toInstant(start_date, body.timezone) }),
            ...(end_date && { end_date: toInstant(end_date, body.timezone) }),
          },
          headers,
        })
      }
      onSent={({ data }) => navigate(linkTo(`/editions/${data.id}/settings`) as never)}
    >
      {(form) => <EditionFields form={form} organization={organization} events={events} />}
    </FormDialog>
  )
}

interface EditionValues extends Record<string, unknown> {
  event_id: string
  name: string
  timezone: string
  start_date: string
  end_date: string
  default_country_code: Schema['EditionDetail']['default_country_code']
  default_language: LanguageCode
}

interface EditionFieldsProps {
  form: UseFormReturnType<EditionValues>
  organization: string
  events: Record<string, string>
}

function EditionFields({ form, organization, events }: EditionFieldsProps) {
  const meta = useQuery(get('/v1/editions/_meta', { params: { query: { organization_id: organization } } })).data
  const toOptions = (choices: Schema['MetaChoice'][] = []) => choices.map(({ value, label }) => ({ value, label }))
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label={t.event}
          required
          searchable
          allowDeselect={false}
          data={Object.entries(events).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('event_id')}
        />
        <TextInput label={words.common.name} required data-autofocus maxLength={200} {...form.getInputProps('name')} />
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        {t.nameHint}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput label={t.start} type="datetime-local" {...form.getInputProps('start_date')} />
        <TextInput label={t.end} type="datetime-local" {...form.getInputProps('end_date')} />
        <Select
          label={t.zone}
          searchable
          allowDeselect={false}
          data={toOptions(meta?.timezones)}
          {...form.getInputProps('timezone')}
        />
        <Select
          label={t.country}
          searchable
          allowDeselect={false}
          data={toOptions(meta?.country_codes)}
          {...form.getInputProps('default_country_code')}
        />
        <Select
          label={t.language}
          allowDeselect={false}
          data={languageOptions}
          {...form.getInputProps('default_language')}
        />
      </SimpleGrid>
    </>
  )
}
