import { Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, get, getList, type Schema } from '../../api'
import { useCaller } from '../../caller'
import type { SendHeaders } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { RoleGate } from '../../parts/role-gate'
import { SecretOnce } from '../../parts/secret-once'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { forgetToken } from '../../session'
import { fill, loadWords, plural, words } from '../../words'

const organizationsWords = await loadWords('organizations')

const organizationRoute = getRouteApi('/shell/organizations/$organization/tokens')
const ownRoute = getRouteApi('/shell/access-tokens')
const t = organizationsWords.tokens
const pageSize = 100

type Token = Schema['AccessToken']
type OrganizationToken = Schema['OrganizationToken']
type Expiry = keyof typeof t.expiryChoices

const columns: Column<Token>[] = [
  { key: 'name', label: words.common.name, cell: ({ name }) => name },
  { key: 'kind', label: t.kind, cell: ({ kind }) => t.kinds[kind] },
  { key: 'scopes', label: t.scopes, cell: ({ scopes }) => t.scopeNames[scopes.includes('write') ? 'write' : 'read'] },
  {
    key: 'prefix',
    isNamed: true,
    label: t.prefix,
    cell: ({ prefix }) => <Text size="sm" ff="monospace" span>{`${prefix}…`}</Text>,
  },
  { key: 'last_used', isNamed: true, label: t.lastUsed, cell: (token) => <Time at={token.last_used_at} age /> },
  { key: 'expires', isNamed: true, label: t.expires, cell: (token) => <Time at={token.expires_at} date /> },
  {
    key: 'created',
    isNamed: true,
    label: words.common.created,
    sort: 'created',
    cell: (token) => <Time at={token.created} date />,
  },
]

/** The tokens that work in one organisation only. */
export const OrganizationTokens = () => (
  <RoleGate operation="listOrganizationTokens" title={t.title}>
    <OrganizationTokensPage />
  </RoleGate>
)

function OrganizationTokensPage() {
  const { organization } = organizationRoute.useParams()
  const search = organizationRoute.useSearch()
  const [token, setToken] = useState<Token | null>(null)
  const { ordering = '-created', ...others } = search
  const list = useQuery(
    getList('/v1/organizations/{id}/tokens', {
      params: { path: { id: organization }, query: { page_size: pageSize, ...others, ordering: [ordering] } },
    }),
  )
  const holder: Column<OrganizationToken> = {
    key: 'holder',
    label: t.holder,
    cell: (one) => (one.holder ? one.holder.full_name || one.holder.email : <Status tone="bad" label={t.noHolder} />),
  }
  const [name, kind, ...rest] = columns as Column<OrganizationToken>[]
  const action: Column<OrganizationToken> = {
    key: 'actions',
    label: organizationsWords.members.actions,
    cell: (one) => <RevokeButton operation="revokeOrganizationToken" start={() => setToken(one)} />,
  }
  return (
    <Stack gap="sm">
      <Heading title={t.title} facts={t.organizationHint} actions={<CreateToken organization={organization} />} />
      <RecordList
        name="organization-tokens"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={[name!, holder, kind!, ...rest, action]}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint }}
      />
      <RevokeDialog
        token={token}
        close={() => setToken(null)}
        send={(headers) =>
          api.DELETE('/v1/organizations/{id}/tokens/{token_id}', {
            params: { path: { id: organization, token_id: token?.id ?? '' } },
            headers,
          })
        }
      />
    </Stack>
  )
}

/** The person's own tokens and sign-ins. */
export function OwnTokens() {
  const search = ownRoute.useSearch()
  const person = useCaller()
  const [token, setToken] = useState<Token | null>(null)
  const { ordering = '-created', ...others } = search
  const list = useQuery(
    getList('/v1/auth/tokens', { params: { query: { page_size: pageSize, ...others, ordering: [ordering] } } }),
  )
  const isCurrent = (one: Token | null) => one !== null && one.id === person?.token.id
  const [name, ...rest] = columns
  const marked: Column<Token> = {
    ...name!,
    cell: (one) => (
      <Group gap="xs" component="span">
        {one.name}
        {isCurrent(one) && <Status tone="good" label={t.current} />}
      </Group>
    ),
  }
  const action: Column<Token> = {
    key: 'actions',
    label: organizationsWords.members.actions,
    cell: (one) => <RevokeButton operation="revokeAccessToken" start={() => setToken(one)} />,
  }
  return (
    <Stack gap="sm">
      <Heading title={t.own} facts={t.ownHint} actions={<CreateToken />} />
      <RecordList
        name="own-tokens"
        label={t.own}
        list={list}
        search={{ ...search, ordering }}
        columns={[marked, ...rest, action]}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: person?.is_superuser ? t.noAccount : t.emptyHint }}
      />
      <RevokeDialog
        token={token}
        close={() => setToken(null)}
        isCurrent={isCurrent(token)}
        send={(headers) => api.DELETE('/v1/auth/tokens/{id}', { params: { path: { id: token?.id ?? '' } }, headers })}
      />
    </Stack>
  )
}

const RevokeButton = ({
  operation,
  start,
}: {
  operation: 'revokeAccessToken' | 'revokeOrganizationToken'
  start: () => void
}) => (
  <ActionButton size="compact-sm" variant="default" operation={operation} onClick={start}>
    {t.revoke}
  </ActionButton>
)

interface RevokeProps {
  token: Token | null
  close: () => void
  send: (headers: SendHeaders) => Promise<unknown>
  isCurrent?: boolean
}

const RevokeDialog = ({ token, close, send, isCurrent = false }: RevokeProps) => (
  <FormDialog
    title={t.revokeTitle}
    isOpen={token !== null}
    close={close}
    submitLabel={t.revoke}
    isDangerous
    done={t.revoked}
    initialValues={{}}
    send={(_, headers) => send(headers)}
    onSent={() => isCurrent && forgetToken({ isExpired: false })}
  >
    {() => (
      <Text size="sm">
        {fill(t.revokeText, { name: token?.name ?? '' })} {isCurrent && <b>{t.revokeCurrent}</b>}
      </Text>
    )}
  </FormDialog>
)

const dayMs = 86_400_000
/** Tokens end at the start of a day, so that a repeated request has the same body. */
const expiryInstant = (choice: Expiry): string | null =>
  choice === 'never' ? null : new Date((Math.floor(Date.now() / dayMs) + Number(choice)) * dayMs).toISOString()

/** Creates a token for the person, or for a member of the organisation, and shows it once. */
function CreateToken({ organization }: { organization?: string }) {
  const person = useCaller()
  const [isOpen, setOpen] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const isAdmin = person?.is_superuser || person?.organizations.some(({ role }) => role === 'admin')
  return (
    <>
      <ActionButton
        operation={organization === undefined ? 'createAccessToken' : 'revokeOrganizationToken'}
        reason={organization === undefined && person?.is_superuser ? t.noAccount : null}
        onClick={() => setOpen(true)}
      >
        {t.create}
      </ActionButton>
      <FormDialog
        title={t.create}
        isOpen={isOpen}
        close={() => setOpen(false)}
        submitLabel={t.create}
        initialValues={{
          name: '',
          member_id: '',
          scopes: 'read' as 'read' | 'write',
          expires_at: '90' as Expiry,
        }}
        canSubmit={({ member_id }) => organization === undefined || member_id !== ''}
        send={({ name, member_id, scopes, expires_at }, headers) =>
          api.POST('/v1/auth/tokens', {
            body: {
              name,
              ...(organization !== undefined && { member_id }),
              scopes: scopes === 'write' ? ['read', 'write'] : ['read'],
              expires_at: expiryInstant(expires_at),
            },
            headers,
          })
        }
        onSent={({ data }) => setSecret(data.token)}
      >
        {(form) => (
          <>
            <TextInput
              label={words.common.name}
              description={t.nameHint}
              required
              maxLength={200}
              data-autofocus
              {...form.getInputProps('name')}
            />
            {organization !== undefined && (
              <MemberField organization={organization} {...form.getInputProps('member_id')} />
            )}
            <Select
              label={t.scopes}
              data={Object.entries(t.scopeNames).map(([value, label]) => ({ value, label }))}
              allowDeselect={false}
              {...form.getInputProps('scopes')}
            />
            <Select
              label={t.expires}
              description={isAdmin ? undefined : t.neverHint}
              data={Object.entries(t.expiryChoices).map(([value, label]) => ({
                value,
                label,
                disabled: value === 'never' && !isAdmin,
              }))}
              allowDeselect={false}
              {...form.getInputProps('expires_at')}
            />
          </>
        )}
      </FormDialog>
      <SecretOnce title={t.shown} hint={t.shownHint} secret={secret} close={() => setSecret(null)} />
    </>
  )
}

function MemberField({ organization, ...input }: { organization: string }) {
  const query = { page_size: 500 }
  const members = useQuery(get('/v1/organizations/{id}/members', { params: { path: { id: organization }, query } }))
  return (
    <Select
      label={t.member}
      description={t.memberHint}
      required
      searchable
      nothingFoundMessage={words.common.noMatch}
      data={(members.data?.results ?? []).map((member) => ({
        value: member.id,
        label: `${member.full_name || member.email} · ${words.common.roleNames[member.role]}`,
      }))}
      {...input}
    />
  )
}
