import { MultiSelect, SegmentedControl, Select, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, getList, type Schema } from '../../api'
import { useEdition, useOrganizationId } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { nameLanguage } from '../../parts/names'
import { type Column, RecordList } from '../../parts/record-list'
import { useSearchChange } from '../../parts/search-change'
import { Status } from '../../parts/status'
import { fill, formatCount, loadWords, plural, words } from '../../words'
import { listOptions } from './options'
import { OwnerField } from './owner-field'
import { useMayActWide } from './use-may-act-wide'

type Consent = Schema['Consent']

const route = getRouteApi('/shell/editions/$edition/consents')
const t = await loadWords('consents')
const pageSize = 50

const writeStat = (stats: Consent['stats'], key: keyof NonNullable<Consent['stats']>): string =>
  stats === null ? '–' : formatCount(stats[key])

const columns: Column<Consent>[] = [
  { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
  { key: 'type', label: words.common.type, cell: ({ type }) => t.types[type] },
  {
    key: 'status',
    label: words.common.status,
    cell: ({ is_active }) => <Status tone={is_active ? 'good' : 'none'} label={is_active ? t.active : t.inactive} />,
  },
  { key: 'owner', label: t.owner, cell: ({ edition }) => edition?.full_name ?? t.owners.organization },
  { key: 'given', label: t.statuses.given, isNumber: true, cell: ({ stats }) => writeStat(stats, 'given') },
  { key: 'withdrawn', label: t.statuses.withdrawn, isNumber: true, cell: ({ stats }) => writeStat(stats, 'withdrawn') },
  { key: 'skipped', label: t.statuses.skipped, isNumber: true, cell: ({ stats }) => writeStat(stats, 'skipped') },
  { key: 'key', label: t.key, cell: ({ key }) => key },
  { key: 'version', label: t.version, isHidden: true, cell: ({ version }) => formatCount(version) },
  {
    key: 'position',
    label: t.position,
    isHidden: true,
    sort: 'position',
    cell: ({ position }) => formatCount(position),
  },
]

const filters: Filter[] = [
  { key: 'type', label: words.common.type, kind: 'choice', options: t.types },
  { key: 'is_active', label: t.isActive, kind: 'boolean' },
]

export function Consents() {
  const { edition: id } = route.useParams()
  const edition = useEdition()
  const organization = useOrganizationId()
  const { only, ...search } = route.useSearch()
  const change = useSearchChange()
  const [isAdding, adding] = useDisclosure(false)
  const { ordering = 'position', ...others } = search
  const owner = only === 'edition' ? { edition_id: id } : { organization_id: organization }
  const query = { ...owner, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({ ...getList('/v1/consents', { params: { query } }), enabled: organization !== undefined })
  const create = (
    <ActionButton operation="createConsent" onClick={adding.open}>
      {t.new}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading title={t.title} actions={list.data?.count !== 0 && create} />
      <SegmentedControl
        w="fit-content"
        maw="100%"
        aria-label={t.owner}
        value={only ?? 'all'}
        onChange={(next) => change.set({ only: next === 'edition' ? next : undefined })}
        data={[
          { value: 'all', label: t.ofOrganization },
          { value: 'edition', label: t.owners.edition },
        ]}
      />
      <FilterBar search={search} filters={filters} searchHint={t.searchHint} />
      <RecordList
        name="consents"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={(consent) => consent.id}
        link={(consent) => ({
          to: '/editions/$edition/consents/$consent',
          params: { edition: id, consent: consent.id },
        })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: create }}
      />
      {edition && <CreateDialog edition={edition} isOpen={isAdding} close={adding.close} />}
    </Stack>
  )
}

interface CreateProps {
  edition: Schema['EditionDetail']
  isOpen: boolean
  close: () => void
}

function CreateDialog({ edition, isOpen, close }: CreateProps) {
  const navigate = useNavigate()
  const isWide = useMayActWide()
  const language = edition.default_language
  return (
    <FormDialog
      title={t.new}
      isOpen={isOpen}
      close={close}
      size="lg"
      submitLabel={words.common.create}
      done={t.created}
      initialValues={{
        name: '',
        key: '',
        owner: isWide ? 'organization' : 'edition',
        type: 'marketing' as Consent['type'],
        channels: ['email'] as Consent['channels'],
        text: { [language]: '' } as Record<string, string>,
      }}
      send={({ owner, type, channels, ...others }, headers) =>
        api.POST('/v1/consents', {
          body: {
            ...others,
            type,
            channels: type === 'marketing' ? channels : [],
            organization_id: edition.organization.id,
            edition_id: owner === 'edition' ? edition.id : null,
          },
          headers,
        })
      }
      onSent={({ data }) =>
        navigate({ to: '/editions/$edition/consents/$consent', params: { edition: edition.id, consent: data.id } })
      }
    >
      {(form) => (
        <>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput label={t.name} required data-autofocus maxLength={200} {...form.getInputProps('name')} />
            <TextInput
              label={t.key}
              required
              maxLength={64}
              pattern="[a-z][a-z0-9_]*"
              description={fill(t.keyHint, { key: form.values.key || 'newsletter' })}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              {...form.getInputProps('key')}
            />
            <Select
              label={words.common.type}
              allowDeselect={false}
              data={listOptions(t.types)}
              {...form.getInputProps('type')}
            />
            {form.values.type === 'marketing' && (
              <MultiSelect label={t.channels} data={listOptions(t.channelNames)} {...form.getInputProps('channels')} />
            )}
          </SimpleGrid>
          <OwnerField form={form} edition={edition} isWide={isWide} />
          <Textarea
            label={`${t.text} (${nameLanguage(language)})`}
            required
            autosize
            minRows={3}
            maxLength={10_000}
            {...form.getInputProps(`text.${language}`)}
          />
        </>
      )}
    </FormDialog>
  )
}
