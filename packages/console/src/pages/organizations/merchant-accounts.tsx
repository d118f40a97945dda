import { Group, MultiSelect, PasswordInput, Select, Stack, Switch, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, getList, getWithEtag, type Schema } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { Copy } from '../../parts/copy'
import { EditDialog } from '../../parts/edit-form'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { type CurrencyCode, currencyOptions } from '../../parts/names'
import { type Column, RecordList } from '../../parts/record-list'
import { RoleGate } from '../../parts/role-gate'
import { Status } from '../../parts/status'
import { fill, formatDate, loadWords, plural, words } from '../../words'

const organizationsWords = await loadWords('organizations')

const route = getRouteApi('/shell/organizations/$organization/merchant-accounts')
const t = organizationsWords.merchants
const pageSize = 50

type Account = Schema['MerchantAccount']
type Type = Account['type']

interface Values extends Record<string, unknown> {
  name: string
  description: string
  type: Type
  supported_currencies: CurrencyCode[]
  provider_account: string
  api_key: string
  webhook_secret: string
  settle_manually: boolean
  is_active: boolean
}

const read = (account: Account): Values => ({
  name: account.name,
  description: account.description,
  type: account.type,
  supported_currencies: account.supported_currencies,
  provider_account: account.provider_account ?? '',
  api_key: '',
  webhook_secret: '',
  settle_manually: account.settle_manually,
  is_active: account.is_active,
})

/** Empty keys are left out: what is stored stays. */
function toBody(
  { provider_account, api_key, webhook_secret, settle_manually, type: _, ...others }: Partial<Values>,
  type: Type,
) {
  return {
    ...others,
    ...(provider_account !== undefined && { provider_account: provider_account || null }),
    ...(api_key && { api_key }),
    ...(webhook_secret && { webhook_secret }),
    ...(settle_manually !== undefined && type === 'manual' && { settle_manually }),
  }
}

const filters: Filter[] = [
  { key: 'type', label: words.common.type, kind: 'choice', options: t.types },
  { key: 'is_active', label: t.active, kind: 'boolean' },
]

function KeyState({ account }: { account: Account }) {
  if (account.type !== 'stripe') return <>–</>
  if (!account.has_api_key) return <Status tone="bad" label={t.missing} />
  if (!account.has_webhook_secret) return <Status tone="act" label={t.noSecret} />
  return <Status tone="good" label={`… ${account.api_key_last4 ?? ''}`} />
}

export const MerchantAccounts = () => (
  <RoleGate operation="listMerchantAccounts" title={t.title}>
    <AccountsPage />
  </RoleGate>
)

function AccountsPage() {
  const { organization } = route.useParams()
  const search = route.useSearch()
  const [isCreating, setCreating] = useState(false)
  const [edited, setEdited] = useState<Account | null>(null)
  const [deleted, setDeleted] = useState<Account | null>(null)
  const { ordering = 'name', ...others } = search
  const query = { organization_id: organization, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery(getList('/v1/merchant-accounts', { params: { query } }))
  const button = { size: 'compact-sm', variant: 'default' } as const
  const columns: Column<Account>[] = [
    { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
    { key: 'type', label: words.common.type, cell: ({ type }) => t.types[type] },
    {
      key: 'active',
      label: words.common.status,
      cell: ({ is_active }) => <Status tone={is_active ? 'good' : 'none'} label={is_active ? t.active : t.inactive} />,
    },
    { key: 'keys', label: t.keys, cell: (account) => <KeyState account={account} /> },
    {
      key: 'currencies',
      label: t.currencies,
      cell: ({ supported_currencies }) => supported_currencies.join(' ').toUpperCase(),
    },
    { key: 'description', label: t.description, cell: ({ description }) => description },
    {
      key: 'actions',
      label: organizationsWords.members.actions,
      cell: (account) => (
        <Group gap={4} wrap="nowrap">
          <ActionButton {...button} operation="updateMerchantAccount" onClick={() => setEdited(account)}>
            {words.common.edit}
          </ActionButton>
          <ActionButton {...button} operation="deleteMerchantAccount" onClick={() => setDeleted(account)}>
            {words.common.delete}
          </ActionButton>
        </Group>
      ),
    },
  ]
  const create = (
    <ActionButton operation="createMerchantAccount" onClick={() => setCreating(true)}>
      {t.create}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading title={t.title} facts={t.hint} actions={create} />
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="merchant-accounts"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: create }}
      />
      <CreateAccount organization={organization} isOpen={isCreating} close={() => setCreating(false)} />
      {edited && <EditAccount account={edited} close={() => setEdited(null)} />}
      <FormDialog
        title={t.delete}
        isOpen={deleted !== null}
        close={() => setDeleted(null)}
        submitLabel={t.delete}
        isDangerous
        done={t.deleted}
        initialValues={{}}
        send={(_, headers) =>
          api.DELETE('/v1/merchant-accounts/{id}', { params: { path: { id: deleted?.id ?? '' } }, headers })
        }
      >
        {() => <Text size="sm">{fill(t.deleteText, { name: deleted?.name ?? '' })}</Text>}
      </FormDialog>
    </Stack>
  )
}

interface CreateProps {
  organization: string
  isOpen: boolean
  close: () => void
}

const emptyValues: Values = {
  name: '',
  description: '',
  type: 'stripe',
  supported_currencies: [],
  provider_account: '',
  api_key: '',
  webhook_secret: '',
  settle_manually: true,
  is_active: true,
}

const CreateAccount = ({ organization, isOpen, close }: CreateProps) => (
  <FormDialog
    title={t.create}
    isOpen={isOpen}
    close={close}
    size="lg"
    submitLabel={t.create}
    initialValues={emptyValues}
    canSubmit={({ supported_currencies }) => supported_currencies.length > 0}
    send={(values, headers) =>
      api.POST('/v1/merchant-accounts', {
        body: {
          name: values.name,
          type: values.type,
          supported_currencies: values.supported_currencies,
          organization_id: organization,
          ...toBody(values, values.type),
        },
        headers,
      })
    }
  >
    {(form) => (
      <>
        <Select
          label={words.common.type}
          description={t.typeHints[form.values.type]}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={Object.entries(t.types).map(([value, label]) => ({ value, label }))}
          allowDeselect={false}
          {...form.getInputProps('type')}
        />
        <AccountFields form={form} />
      </>
    )}
  </FormDialog>
)

const EditAccount = ({ account, close }: { account: Account; close: () => void }) => {
  const params = { path: { id: account.id } }
  return (
    <EditDialog
      title={`${t.edit}: ${account.name}`}
      query={getWithEtag('/v1/merchant-accounts/{id}', { params })}
      close={close}
      size="lg"
      operation="updateMerchantAccount"
      read={read}
      labels={{ name: words.common.name, supported_currencies: t.currencies, is_active: t.active }}
      save={(changes, headers) =>
        api.PATCH('/v1/merchant-accounts/{id}', { params, body: toBody(changes, account.type), headers })
      }
    >
      {(form) => <AccountFields form={form} account={account} />}
    </EditDialog>
  )
}

/** Says from the beginning of a key whether it moves money. */
function describeKey(key: string): string | undefined {
  if (key === '') return undefined
  return key.includes('_live_') ? t.liveKey : key.includes('_test_') ? t.testKey : undefined
}

function AccountFields({ form, account }: { form: UseFormReturnType<Values>; account?: Account }) {
  const { type, api_key } = form.values
  return (
    <>
      <TextInput label={words.common.name} required maxLength={200} {...form.getInputProps('name')} />
      <Textarea label={t.description} autosize minRows={1} {...form.getInputProps('description')} />
      <MultiSelect
        label={t.currencies}
        required
        data={currencyOptions}
        {...form.getInputProps('supported_currencies')}
      />
      {type === 'stripe' && (
        <>
          <PasswordInput
            label={t.key}
            description={
              account?.has_api_key
                ? fill(t.keyKept, {
                    last4: account.api_key_last4 ?? '',
                    time: account.api_key_modified ? formatDate(account.api_key_modified) : '',
                  })
                : t.keyHint
            }
            autoComplete="off"
            {...form.getInputProps('api_key')}
          />
          {describeKey(api_key) && (
            <Text size="sm" aria-live="polite">
              {describeKey(api_key)}
            </Text>
          )}
          <PasswordInput
            label={t.secret}
            description={
              account?.webhook_secret_modified
                ? fill(t.secretKept, { time: formatDate(account.webhook_secret_modified) })
                : t.secretHint
            }
            autoComplete="off"
            {...form.getInputProps('webhook_secret')}
          />
          <TextInput
            label={t.providerAccount}
            description={t.providerAccountHint}
            {...form.getInputProps('provider_account')}
          />
          {account?.webhook_url && (
            <TextInput
              label={t.webhookUrl}
              readOnly
              value={account.webhook_url}
              rightSection={<Copy text={account.webhook_url} name={t.webhookUrl} />}
            />
          )}
        </>
      )}
      {type === 'manual' && (
        <Switch
          label={t.settle}
          description={t.settleHint}
          {...form.getInputProps('settle_manually', { type: 'checkbox' })}
        />
      )}
      <Switch label={t.active} description={t.activeHint} {...form.getInputProps('is_active', { type: 'checkbox' })} />
    </>
  )
}
