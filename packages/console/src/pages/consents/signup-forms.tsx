import { MultiSelect, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, getList, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { Copy } from '../../parts/copy'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { languageOptions, nameLanguage } from '../../parts/names'
import { type Column, RecordList } from '../../parts/record-list'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural, words } from '../../words'
import { OwnerField } from './owner-field'
import { useConsentOptions } from './use-consent-options'
import { useMayActWide } from './use-may-act-wide'

type Form = Schema['SignupForm']

const route = getRouteApi('/shell/editions/$edition/signup-forms')
const t = await loadWords('consents')
const pageSize = 50

const columns: Column<Form>[] = [
  { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
  {
    key: 'status',
    label: words.common.status,
    cell: ({ is_active }) => (
      <Status tone={is_active ? 'good' : 'none'} label={is_active ? t.formOpen : t.formClosed} />
    ),
  },
  { key: 'owner', label: t.owner, cell: ({ edition }) => edition?.full_name ?? t.owners.organization },
  {
    key: 'languages',
    label: t.formLanguages,
    cell: ({ languages }) => languages.map((code) => nameLanguage(code)).join(', '),
  },
  {
    key: 'consents',
    label: t.title,
    isNumber: true,
    cell: ({ consent_ids }) => formatCount(consent_ids.length),
  },
  {
    key: 'address',
    label: t.publicAddress,
    cell: ({ public_url }) => <Copy text={public_url} name={t.publicAddress} />,
  },
  { key: 'created', label: words.common.created, sort: 'created', cell: ({ created }) => <Time at={created} date /> },
]

const filters: Filter[] = [{ key: 'is_active', label: t.formActive, kind: 'boolean' }]

export function SignupForms() {
  const { edition: id } = route.useParams()
  const edition = useEdition()
  const search = route.useSearch()
  const [isAdding, adding] = useDisclosure(false)
  const { ordering = 'name', ...others } = search
  // Forms of the organisation serve the edition too.
  const query = { organization_id: edition?.organization.id, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({ ...getList('/v1/signup-forms', { params: { query } }), enabled: edition !== undefined })
  const create = (
    <ActionButton operation="createSignupForm" onClick={adding.open}>
      {t.formNew}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading title={t.forms} actions={list.data?.count !== 0 && create} />
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="signup-forms"
        label={t.forms}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={(form) => form.id}
        link={(form) => ({ to: '/editions/$edition/signup-forms/$form', params: { edition: id, form: form.id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.formCount)}
        empty={{ title: t.formEmpty, hint: t.formEmptyHint, action: create }}
      />
      {edition && isAdding && <CreateDialog edition={edition} close={adding.close} />}
    </Stack>
  )
}

function CreateDialog({ edition, close }: { edition: Schema['EditionDetail']; close: () => void }) {
  const navigate = useNavigate()
  const isWide = useMayActWide()
  const consentOptions = useConsentOptions(edition.organization.id)
  return (
    <FormDialog
      title={t.formNew}
      isOpen
      close={close}
      submitLabel={words.common.create}
      done={t.formCreated}
      initialValues={{
        name: '',
        owner: isWide ? 'organization' : 'edition',
        consent_ids: [] as string[],
        languages: [edition.default_language] as Form['languages'],
      }}
      canSubmit={({ consent_ids, languages }) => consent_ids.length > 0 && languages.length > 0}
      send={({ owner, ...others }, headers) =>
        api.POST('/v1/signup-forms', {
          body: {
            ...others,
            organization_id: edition.organization.id,
            edition_id: owner === 'edition' ? edition.id : null,
          },
          headers,
        })
      }
      onSent={({ data }) =>
        navigate({ to: '/editions/$edition/signup-forms/$form', params: { edition: edition.id, form: data.id } })
      }
    >
      {(form) => (
        <>
          <TextInput
            label={words.common.name}
            description={t.formNameHint}
            required
            data-autofocus
            maxLength={200}
            {...form.getInputProps('name')}
          />
          <OwnerField
            form={form}
            edition={edition}
            isWide={isWide}
            onChange={(owner) => owner !== null && form.setValues({ owner, consent_ids: [] })}
          />
          <MultiSelect
            label={t.formConsents}
            description={t.formConsentsHint}
            required
            searchable
            nothingFoundMessage={words.common.noMatch}
            data={consentOptions(form.values.owner === 'edition' ? edition.id : null)}
            {...form.getInputProps('consent_ids')}
          />
          <MultiSelect
            label={t.formLanguages}
            description={t.formLanguagesHint}
            required
            data={languageOptions}
            {...form.getInputProps('languages')}
          />
        </>
      )}
    </FormDialog>
  )
}
