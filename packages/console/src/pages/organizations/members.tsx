import { Badge, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, getList, getWithEtag, type Schema } from '../../api'
import { useCaller } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { EditDialog } from '../../parts/edit-form'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { RoleGate } from '../../parts/role-gate'
import { SecretOnce } from '../../parts/secret-once'
import { Time } from '../../parts/time'
import { fill, loadWords, plural, words } from '../../words'

const organizationsWords = await loadWords('organizations')

const route = getRouteApi('/shell/organizations/$organization/members')
const t = organizationsWords.members
const pageSize = 100

type Member = Schema['OrganizationMember']
type Role = Member['role']
type Action = { kind: 'edit' | 'remove' | 'link'; member: Member }

const roleOptions = Object.entries(words.common.roleNames).map(([value, label]) => ({ value, label }))

/** The editions of an organisation as options. */
function useEditionNames(organization: string): Record<string, string> {
  const editions = useCaller()?.editions ?? []
  return Object.fromEntries(
    editions.filter((one) => one.organization_id === organization).map((one) => [one.id, one.full_name]),
  )
}

function RoleField({ value, onChange, error }: { value: Role; onChange: (role: Role) => void; error?: ReactNode }) {
  return (
    <Select
      label={t.role}
      description={t.roleHints[value]}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={roleOptions}
      allowDeselect={false}
      value={value}
      onChange={(role) => role !== null && onChange(role as Role)}
      error={error}
    />
  )
}

export const Members = () => (
  <RoleGate operation="listOrganizationMembers" title={t.title}>
    <MembersPage />
  </RoleGate>
)

function MembersPage() {
  const { organization } = route.useParams()
  const search = route.useSearch()
  const person = useCaller()
  const names = useEditionNames(organization)
  const [isAdding, setAdding] = useState(false)
  const [action, setAction] = useState<Action | null>(null)
  const { ordering = 'created', ...others } = search
  const list = useQuery(
    getList('/v1/organizations/{id}/members', {
      params: { path: { id: organization }, query: { page_size: pageSize, ...others, ordering: [ordering] } },
    }),
  )
  const filters: Filter[] = [
    { key: 'role', label: t.role, kind: 'choice', options: words.common.roleNames },
    { key: 'edition_id', label: words.common.edition, kind: 'choice', options: names },
  ]
  const columns: Column<Member>[] = [
    {
      key: 'person',
      label: t.person,
      cell: (member) => (
        <Group gap="xs" component="span">
          <span>{member.full_name || member.email}</span>
          {member.full_name && (
            <Text size="sm" c="dimmed" component="span">
              {member.email}
            </Text>
          )}
          {member.email === person?.email && <Badge variant="default">{t.you}</Badge>}
        </Group>
      ),
    },
    { key: 'role', label: t.role, sort: 'role', cell: (member) => words.common.roleNames[member.role] },
    {
      key: 'scope',
      label: t.scope,
      cell: ({ edition_id: id }) => (id === null ? t.everywhere : (names[id] ?? id)),
    },
    { key: 'since', label: t.since, sort: 'created', cell: (member) => <Time at={member.created} date /> },
    { key: 'actions', label: t.actions, cell: (member) => <Actions member={member} start={setAction} /> },
  ]
  return (
    <Stack gap="sm">
      <Heading
        title={t.title}
        actions={
          <ActionButton operation="addOrganizationMember" onClick={() => setAdding(true)}>
            {t.add}
          </ActionButton>
        }
      />
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="members"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint }}
      />
      <AddMember organization={organization} names={names} isOpen={isAdding} close={() => setAdding(false)} />
      <MemberDialogs organization={organization} action={action} close={() => setAction(null)} />
    </Stack>
  )
}

function Actions({ member, start }: { member: Member; start: (action: Action) => void }) {
  const button = { size: 'compact-sm', variant: 'default' } as const
  const person = useCaller()
  return (
    <Group gap={4} wrap="nowrap">
      <ActionButton {...button} operation="updateOrganizationMember" onClick={() => start({ kind: 'edit', member })}>
        {words.common.edit}
      </ActionButton>
      <ActionButton {...button} operation="removeOrganizationMember" onClick={() => start({ kind: 'remove', member })}>
        {words.common.remove}
      </ActionButton>
      {person?.is_superuser && (
        <ActionButton {...button} operation="createSignInLink" onClick={() => start({ kind: 'link', member })}>
          {t.signInLink}
        </ActionButton>
      )}
    </Group>
  )
}

interface AddProps {
  organization: string
  names: Record<string, string>
  isOpen: boolean
  close: () => void
}

function AddMember({ organization, names, isOpen, close }: AddProps) {
  return (
    <FormDialog
      title={t.add}
      isOpen={isOpen}
      close={close}
      submitLabel={t.add}
      done={t.added}
      initialValues={{
        email: '',
        first_name: '',
        last_name: '',
        role: 'manager' as Role,
        edition_id: null as string | null,
      }}
      send={({ first_name, last_name, ...body }, headers) =>
        api.POST('/v1/organizations/{id}/members', {
          params: { path: { id: organization } },
          body: { ...body, ...(first_name && { first_name }), ...(last_name && { last_name }) },
          headers,
        })
      }
    >
      {(form) => (
        <>
          <TextInput
            label={words.common.email}
            type="email"
            required
            data-autofocus
            autoComplete="off"
            {...form.getInputProps('email')}
          />
          <SimpleGrid cols={2}>
            <TextInput label={t.firstName} {...form.getInputProps('first_name')} />
            <TextInput label={t.lastName} {...form.getInputProps('last_name')} />
          </SimpleGrid>
          <RoleField
            value={form.values.role}
            onChange={(role) => form.setFieldValue('role', role)}
            error={form.errors['role']}
          />
          <Select
            label={t.scope}
            placeholder={t.everywhere}
            clearable
            searchable
            data={Object.entries(names).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('edition_id')}
          />
        </>
      )}
    </FormDialog>
  )
}

interface DialogProps {
  organization: string
  action: Action | null
  close: () => void
}

function MemberDialogs({ organization, action, close }: DialogProps) {
  const person = useCaller()
  const [link, setLink] = useState<string | null>(null)
  const member = action?.member
  const path = { id: organization, member_id: member?.id ?? '' }
  const name = member?.full_name || member?.email || ''
  return (
    <>
      {action?.kind === 'edit' && (
        <EditDialog
          title={`${t.editRole}: ${name}`}
          query={getWithEtag('/v1/organizations/{id}/members/{member_id}', { params: { path } })}
          close={close}
          operation="updateOrganizationMember"
          read={({ role, first_name, last_name }: Member) => ({ role, first_name, last_name })}
          labels={{ role: t.role, first_name: t.firstName, last_name: t.lastName }}
          save={(body, headers) =>
            api.PATCH('/v1/organizations/{id}/members/{member_id}', { params: { path }, body, headers })
          }
        >
          {(form) => (
            <>
              <SimpleGrid cols={2}>
                <TextInput label={t.firstName} {...form.getInputProps('first_name')} />
                <TextInput label={t.lastName} {...form.getInputProps('last_name')} />
              </SimpleGrid>
              <RoleField
                value={form.values.role}
                onChange={(role) => form.setFieldValue('role', role)}
                error={form.errors['role']}
              />
            </>
          )}
        </EditDialog>
      )}
      <FormDialog
        title={t.remove}
        isOpen={action?.kind === 'remove'}
        close={close}
        submitLabel={t.remove}
        isDangerous
        done={t.removed}
        initialValues={{}}
        send={(_, headers) => api.DELETE('/v1/organizations/{id}/members/{member_id}', { params: { path }, headers })}
      >
        {() => (
          <Text size="sm">
            {fill(t.removeText, { name })} {member?.email === person?.email && <b>{t.removeSelf}</b>}
          </Text>
        )}
      </FormDialog>
      <FormDialog
        title={t.signInLink}
        isOpen={action?.kind === 'link'}
        close={close}
        submitLabel={t.createLink}
        initialValues={{}}
        send={(_, headers) => api.POST('/v1/auth/sign-in-links', { body: { member_id: path.member_id }, headers })}
        onSent={({ data }) => setLink(data.sign_in_url)}
      >
        {() => <Text size="sm">{fill(t.signInLinkText, { name })}</Text>}
      </FormDialog>
      <SecretOnce title={t.signInLink} hint={t.signInLinkHint} secret={link} close={() => setLink(null)} />
    </>
  )
}
