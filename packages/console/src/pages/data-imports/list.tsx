import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { getList, type Schema } from '../../api'
import { useArchivedReason } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { ImportStatus } from '../../parts/import-status'
import { type Column, RecordList } from '../../parts/record-list'
import { RoleGate } from '../../parts/role-gate'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural, words } from '../../words'
import { isRunning } from './steps'

const route = getRouteApi('/shell/editions/$edition/imports')
const t = await loadWords('dataImports')
const pageSize = 50

type DataImport = Schema['DataImport']

const columns: Column<DataImport>[] = [
  { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
  { key: 'status', label: words.common.status, sort: 'status', cell: ({ status }) => <ImportStatus status={status} /> },
  { key: 'kind', label: t.kind, cell: ({ kind }) => t.kinds[kind] },
  { key: 'source', label: t.source, cell: ({ source }) => t.sources[source] },
  { key: 'external', label: t.externalSource, isHidden: true, cell: ({ external_source }) => external_source },
  {
    key: 'rows',
    label: t.rows,
    isNumber: true,
    isMain: true,
    cell: ({ total_rows }) => formatCount(total_rows),
  },
  { key: 'created_orders', label: t.outcomes.created, isNumber: true, cell: (row) => formatCount(row.created_orders) },
  { key: 'updated_orders', label: t.outcomes.updated, isNumber: true, cell: (row) => formatCount(row.updated_orders) },
  {
    key: 'skipped_orders',
    label: t.outcomes.skipped,
    isNumber: true,
    isHidden: true,
    cell: (row) => formatCount(row.skipped_orders),
  },
  {
    key: 'failed_orders',
    label: t.failed,
    isNumber: true,
    cell: ({ failed_orders }) => (
      <Text span size="sm" c={failed_orders > 0 ? 'var(--mantine-color-error)' : undefined}>
        {formatCount(failed_orders)}
      </Text>
    ),
  },
  { key: 'created', label: t.begun, sort: 'created', cell: ({ created }) => <Time at={created} /> },
]

const filters: Filter[] = [
  { key: 'status', label: words.common.status, kind: 'choice', options: t.statuses },
  { key: 'source', label: t.source, kind: 'choice', options: t.sources },
]

export const Imports = () => (
  <Stack gap="sm">
    <Heading title={t.title} actions={<NewButton />} />
    <RoleGate operation="listDataImports">
      <List />
    </RoleGate>
  </Stack>
)

function NewButton() {
  const { edition } = route.useParams()
  const navigate = useNavigate()
  return (
    <ActionButton
      operation="createDataImport"
      reason={useArchivedReason()}
      onClick={() => void navigate({ to: '/editions/$edition/imports/new', params: { edition } })}
    >
      {t.new}
    </ActionButton>
  )
}

function List() {
  const { edition } = route.useParams()
  const search = route.useSearch()
  const { ordering = '-created', ...others } = search
  const query = { edition_id: edition, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList('/v1/data-imports', { params: { query } }),
    refetchInterval: ({ state }) => (state.data?.data.results.some(({ status }) => isRunning(status)) ? 5000 : false),
  })
  return (
    <>
      <FilterBar search={search} filters={filters} searchHint={t.searchHint} />
      <RecordList
        name="imports"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => ({ to: '/editions/$edition/imports/$import', params: { edition, import: id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: <NewButton /> }}
      />
    </>
  )
}
