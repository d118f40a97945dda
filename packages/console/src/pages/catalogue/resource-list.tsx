import { Group, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, getList, getWithEtag } from '../../api'
import { useArchivedReason, useOrganizationId } from '../../caller'
import type { Operation } from '../../generated/roles'
import { ActionButton } from '../../parts/action-button'
import { EditDialog, type Version } from '../../parts/edit-form'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { type Column, type Page, RecordList } from '../../parts/record-list'
import type { Plural } from '../../plural'
import { fill, loadWords, plural, words } from '../../words'
import { CatalogueTabs } from './catalogue-tabs'

const organizationsWords = await loadWords('organizations')
const catalogueWords = await loadWords('catalogue')

const pageSize = 100

interface Texts {
  title: string
  count: Plural
  empty: string
  emptyHint: string
  create: string
  edit: string
  delete: string
  deleteText: string
}

/** A kind of resources that are few and small: they are created and changed in dialogs of their list. */
export interface ResourceKind<Row, Values> {
  path: '/v1/categories' | '/v1/locations' | '/v1/fee-rules' | '/v1/pass-designs'
  texts: Texts
  hint?: string
  operations: { create: Operation; update: Operation; remove: Operation }
  /** True if the resources belong to the organisation, so that an archived edition does not protect them. */
  isShared?: boolean
  columns: readonly Column<Row>[]
  filters: readonly Filter[]
  defaultOrdering: string
  /** The values of the form. Without a row those of a new resource. */
  read: (row: Row | null) => Values
  toBody: (values: Partial<Values>) => object
  labels: Partial<Record<keyof Values, string>>
  fields: (form: UseFormReturnType<Values>, row: Row | null) => ReactNode
  dialogSize?: 'md' | 'lg' | 'xl'
}

interface Props<Row, Values> {
  kind: ResourceKind<Row, Values>
  edition: string
  search: { ordering?: string; page?: number }
}

/** All kinds have the same calls, with bodies of their own. */
const asCategories = (path: string) => path as '/v1/categories'
const asCategory = (path: string) => `${path}/{id}` as '/v1/categories/{id}'

export function ResourceList<Row extends { id: string; name: string }, Values extends Record<string, unknown>>({
  kind,
  edition,
  search,
}: Props<Row, Values>) {
  const organization = useOrganizationId() ?? ''
  const archived = useArchivedReason()
  const reason = kind.isShared ? null : archived
  const [isCreating, setCreating] = useState(false)
  const [edited, setEdited] = useState<Row | null>(null)
  const [deleted, setDeleted] = useState<Row | null>(null)
  const owner = { organization_id: organization, ...(!kind.isShared && { edition_id: edition }) }
  const { ordering = kind.defaultOrdering, ...others } = search
  const query = { ...owner, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList(asCategories(kind.path), { params: { query: query as never } }),
    enabled: organization !== '',
  })
  const button = { size: 'compact-sm', variant: 'default', reason } as const
  const actions: Column<Row> = {
    key: 'actions',
    label: organizationsWords.members.actions,
    cell: (row) => (
      <Group gap={4} wrap="nowrap">
        <ActionButton {...button} operation={kind.operations.update} onClick={() => setEdited(row)}>
          {words.common.edit}
        </ActionButton>
        <ActionButton {...button} operation={kind.operations.remove} onClick={() => setDeleted(row)}>
          {words.common.delete}
        </ActionButton>
      </Group>
    ),
  }
  const create = (
    <ActionButton operation={kind.operations.create} reason={reason} onClick={() => setCreating(true)}>
      {kind.texts.create}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading title={kind.texts.title} facts={kind.hint} actions={create} />
      <CatalogueTabs edition={edition} />
      <FilterBar search={search} filters={kind.filters} searchHint={words.common.name} />
      <RecordList
        name={kind.path}
        label={kind.texts.title}
        list={list as unknown as UseQueryResult<Page<Row>>}
        search={{ ...search, ordering }}
        columns={[...kind.columns, actions]}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, kind.texts.count)}
        empty={{ title: kind.texts.empty, hint: kind.texts.emptyHint, action: create }}
      />
      <FormDialog
        title={kind.texts.create}
        isOpen={isCreating}
        close={() => setCreating(false)}
        size={kind.dialogSize ?? 'md'}
        submitLabel={words.common.create}
        initialValues={kind.read(null)}
        send={(values, headers) =>
          api.POST(asCategories(kind.path), { body: { ...owner, ...kind.toBody(values) } as never, headers })
        }
      >
        {(form) => kind.fields(form, null)}
      </FormDialog>
      {edited && <EditResource kind={kind} row={edited} close={() => setEdited(null)} reason={reason} />}
      <DeleteResource kind={kind} row={deleted} close={() => setDeleted(null)} />
    </Stack>
  )
}

interface EditProps<Row, Values> {
  kind: ResourceKind<Row, Values>
  row: Row
  close: () => void
  reason: string | null
}

function EditResource<Row extends { id: string; name: string }, Values extends Record<string, unknown>>({
  kind,
  row,
  close,
  reason,
}: EditProps<Row, Values>) {
  const params = { path: { id: row.id } }
  return (
    <EditDialog
      title={`${kind.texts.edit}: ${row.name}`}
      query={getWithEtag(asCategory(kind.path), { params })}
      close={close}
      size={kind.dialogSize ?? 'md'}
      operation={kind.operations.update}
      reason={reason}
      read={kind.read}
      labels={kind.labels}
      save={async (changes, headers) =>
        (await api.PATCH(asCategory(kind.path), {
          params,
          body: kind.toBody(changes) as never,
          headers,
        })) as unknown as Version<Row>
      }
    >
      {(form) => kind.fields(form, row)}
    </EditDialog>
  )
}

function DeleteResource<Row extends { id: string; name: string }, Values>({
  kind,
  row,
  close,
}: Omit<EditProps<Row, Values>, 'row' | 'reason'> & { row: Row | null }) {
  return (
    <FormDialog
      title={kind.texts.delete}
      isOpen={row !== null}
      close={close}
      submitLabel={words.common.delete}
      isDangerous
      done={catalogueWords.deleted}
      initialValues={{}}
      send={(_, headers) => api.DELETE(asCategory(kind.path), { params: { path: { id: row?.id ?? '' } }, headers })}
    >
      {() => <Text size="sm">{fill(kind.texts.deleteText, { name: row?.name ?? '' })}</Text>}
    </FormDialog>
  )
}
