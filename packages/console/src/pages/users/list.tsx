import { Checkbox, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, getList, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { type LanguageCode, languageOptions, nameLanguage } from '../../parts/names'
import { linkTo } from '../../parts/record-link'
import { type Column, RecordList } from '../../parts/record-list'
import { Time } from '../../parts/time'
import { loadWords, plural, words } from '../../words'
import { nameCustomer } from './name'

type User = Schema['User']

const route = getRouteApi('/shell/editions/$edition/customers')
const t = await loadWords('users')
/** The API gives this list pages of 100. */
const pageSize = 100

const columns: Column<User>[] = [
  { key: 'name', label: t.name, cell: (user) => nameCustomer(user) },
  { key: 'email', label: words.common.email, sort: 'email', cell: ({ email }) => email },
  { key: 'phone', label: words.common.phone, sort: 'phone_number', cell: ({ phone_number }) => phone_number },
  { key: 'language', label: t.language, cell: ({ locale }) => nameLanguage(locale as LanguageCode) },
  { key: 'joined', label: t.joined, sort: 'date_joined', cell: ({ date_joined }) => <Time at={date_joined} date /> },
  {
    key: 'seen',
    label: t.lastSeen,
    sort: 'last_seen',
    isMain: true,
    cell: ({ last_seen }) => <Time at={last_seen} date />,
  },
  { key: 'channel', label: t.channel, isHidden: true, cell: ({ msg_channel }) => t.channels[msg_channel] },
]

const filters: Filter[] = [{ key: 'scope', label: t.scope, kind: 'choice', options: t.scopes }]

export function Customers() {
  const { edition: id } = route.useParams()
  const search = route.useSearch()
  const edition = useEdition()
  const navigate = useNavigate()
  const [isAdding, adding] = useDisclosure(false)
  const { ordering = '-date_joined', scope, ...others } = search
  const place = scope === 'organization' ? { organization_id: edition?.organization.id } : { edition_id: id }
  const list = useQuery({
    ...getList('/v1/user', { params: { query: { ...place, ...others, ordering: [ordering] } } }),
    enabled: scope === undefined || edition !== undefined,
  })
  const actions = (
    <Group gap="xs">
      <ActionButton
        operation="importUsers"
        variant="default"
        onClick={() => void navigate(linkTo(`/editions/${id}/imports`))}
      >
        {t.import}
      </ActionButton>
      <ActionButton operation="createUser" onClick={adding.open}>
        {t.add}
      </ActionButton>
    </Group>
  )
  return (
    <Stack gap="sm">
      <Heading title={t.title} actions={list.data?.count !== 0 && actions} />
      <FilterBar search={search} filters={filters} searchHint={t.searchHint} />
      <RecordList
        name="customers"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={(user) => user.id}
        link={(user) => ({ to: '/editions/$edition/customers/$customer', params: { edition: id, customer: user.id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: actions }}
      />
      {edition && <AddDialog edition={edition} isOpen={isAdding} close={adding.close} />}
    </Stack>
  )
}

interface AddProps {
  edition: Schema['EditionDetail']
  isOpen: boolean
  close: () => void
}

function AddDialog({ edition, isOpen, close }: AddProps) {
  const navigate = useNavigate()
  return (
    <FormDialog
      title={t.add}
      isOpen={isOpen}
      close={close}
      submitLabel={words.common.add}
      done={t.added}
      canSubmit={({ email, phone_number }) => email !== '' || phone_number !== ''}
      initialValues={{
        email: '',
        phone_number: '',
        first_name: '',
        last_name: '',
        locale: edition.default_language,
        joins: true,
      }}
      send={({ joins, email, phone_number, ...others }, headers) =>
        api.POST('/v1/user', {
          body: {
            ...others,
            organization_id: edition.organization.id,
            edition_id: joins ? edition.id : null,
            email: email || null,
            phone_number: phone_number || null,
          },
          headers,
        })
      }
      onSent={({ data }) =>
        navigate({
          to: '/editions/$edition/customers/$customer',
          params: { edition: edition.id, customer: data.id },
        })
      }
    >
      {(form) => (
        <>
          <Text size="sm">{t.addHint}</Text>
          <SimpleGrid cols={2}>
            <TextInput label={t.firstName} data-autofocus maxLength={80} {...form.getInputProps('first_name')} />
            <TextInput label={t.lastName} maxLength={80} {...form.getInputProps('last_name')} />
          </SimpleGrid>
          <TextInput
            label={words.common.email}
            type="email"
            description={t.addressHint}
            {...form.getInputProps('email')}
          />
          <TextInput label={words.common.phone} type="tel" {...form.getInputProps('phone_number')} />
          <Select label={t.language} data={languageOptions} allowDeselect={false} {...form.getInputProps('locale')} />
          <Checkbox label={t.joinsEdition} {...form.getInputProps('joins', { type: 'checkbox' })} />
        </>
      )}
    </FormDialog>
  )
}
