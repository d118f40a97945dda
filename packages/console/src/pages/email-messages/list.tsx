import { SegmentedControl, Select, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, getList, type Schema } from '../../api'
import { useArchivedReason, useEdition, useOrganizationId } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { useSearchChange } from '../../parts/search-change'
import { Time } from '../../parts/time'
import { loadWords, plural, words } from '../../words'

const route = getRouteApi('/shell/editions/$edition/email-messages')
const t = await loadWords('emailMessages')
const pageSize = 50

type Message = Schema['EmailMessageList']

const columns: Column<Message>[] = [
  { key: 'title', label: words.common.name, sort: 'title', cell: ({ title }) => title },
  { key: 'type', label: words.common.type, cell: ({ type }) => t.types[type] },
  {
    key: 'modified',
    label: words.common.modified,
    sort: 'modified',
    isNamed: true,
    cell: ({ modified }) => <Time at={modified} />,
  },
  {
    key: 'created',
    label: words.common.created,
    sort: 'created',
    isNamed: true,
    cell: ({ created }) => <Time at={created} />,
  },
]

const filters: Filter[] = [{ key: 'type', label: words.common.type, kind: 'choice', options: t.types }]

export function EmailMessages() {
  const { edition } = route.useParams()
  const organization = useOrganizationId()
  const { scope = 'edition', ...search } = route.useSearch()
  const { ordering = '-created', ...others } = search
  const change = useSearchChange()
  const owner = scope === 'edition' ? { edition_id: edition } : { organization_id: organization, scope }
  const query = { ...owner, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList('/v1/email-messages', { params: { query } }),
    enabled: organization !== undefined,
  })
  return (
    <Stack gap="sm">
      <Heading title={t.title} actions={<CreateButton />} />
      <SegmentedControl
        w="fit-content"
        maw="100%"
        aria-label={t.owner}
        value={scope}
        onChange={(next) => change.set({ scope: next === 'edition' ? undefined : next })}
        data={[
          { value: 'edition', label: t.scopes.edition },
          { value: 'template', label: t.scopes.template },
          { value: 'platform', label: t.scopes.platform },
        ]}
      />
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="email-messages"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => ({ to: '/editions/$edition/email-messages/$message', params: { edition, message: id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty[scope], hint: t.emptyHint, action: <CreateButton /> }}
      />
    </Stack>
  )
}

/** A message begins with a name, a type and a subject in the language of the edition. */
function CreateButton() {
  const [isOpen, dialog] = useDisclosure()
  const archived = useArchivedReason()
  const edition = useEdition()
  const navigate = useNavigate()
  return (
    <>
      <ActionButton
        operation="createEmailMessage"
        reason={archived}
        leftSection={<IconPlus size={16} aria-hidden />}
        onClick={dialog.open}
      >
        {t.create}
      </ActionButton>
      <FormDialog
        title={t.create}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{
          title: '',
          type: 'campaign',
          subject: '',
          scope: 'edition',
        }}
        send={async ({ title, type, subject, scope }, headers) => {
          const body = {
            organization_id: edition?.organization.id ?? '',
            edition_id: scope === 'edition' ? edition?.id : null,
            scope,
            title,
            type,
            subject: { [edition?.default_language ?? 'en']: subject },
          }
          return (await api.POST('/v1/email-messages', { body: body as never, headers })).data
        }}
        onSent={({ id }) =>
          navigate({
            to: '/editions/$edition/email-messages/$message',
            params: { edition: edition?.id ?? '', message: id },
          })
        }
        submitLabel={words.common.create}
      >
        {(form) => (
          <>
            <TextInput
              label={t.name}
              description={t.nameHint}
              required
              data-autofocus
              {...form.getInputProps('title')}
            />
            <TextInput label={t.subject} required {...form.getInputProps('subject')} />
            <Select
              label={words.common.type}
              allowDeselect={false}
              data={Object.entries(t.types).map(([value, label]) => ({ value, label }))}
              {...form.getInputProps('type')}
            />
            <Select
              label={t.owner}
              allowDeselect={false}
              data={[
                { value: 'edition', label: t.scopes.edition },
                { value: 'template', label: t.scopes.template },
              ]}
              {...form.getInputProps('scope')}
            />
          </>
        )}
      </FormDialog>
    </>
  )
}
