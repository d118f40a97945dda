import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { getList, type Schema } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural, words } from '../../words'
import { BatchStatus } from './batch-status'
import { formatAmounts } from './money'

type Batch = Schema['RefundBatch']

const route = getRouteApi('/shell/editions/$edition/refund-batches')
const t = await loadWords('refunds')
const pageSize = 50

const countFailed = ({ requests }: Batch): number => requests.reduce((total, { failed }) => total + failed, 0)

const columns: Column<Batch>[] = [
  { key: 'created', label: words.common.created, sort: 'created', cell: ({ created }) => <Time at={created} /> },
  { key: 'reason', label: t.reason, cell: ({ reason }) => words.states.refundReasons[reason] },
  { key: 'status', label: words.common.status, cell: ({ status }) => <BatchStatus status={status} /> },
  { key: 'orders', label: t.orders, isNumber: true, cell: ({ dry_run }) => formatCount(dry_run.orders) },
  { key: 'sum', label: t.sum, isNumber: true, isMain: true, cell: ({ dry_run }) => formatAmounts(dry_run.amounts) },
  {
    key: 'paid',
    label: t.paidBack,
    isNumber: true,
    cell: ({ requests }) =>
      formatAmounts(requests.map(({ currency, completed_amount }) => ({ currency, amount: completed_amount }))),
  },
  { key: 'failed', label: t.failed, isNumber: true, cell: (batch) => formatCount(countFailed(batch)) },
]

const filters: Filter[] = [{ key: 'status', label: words.common.status, kind: 'choice', options: t.batchStatuses }]

export function RefundBatches() {
  const { edition } = route.useParams()
  const search = route.useSearch()
  const navigate = useNavigate()
  const { ordering = '-created', ...others } = search
  const query = { page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery(getList('/v1/editions/{id}/refund-batches', { params: { path: { id: edition }, query } }))
  const create = (
    <ActionButton
      operation="createRefundBatch"
      onClick={() => void navigate({ to: '/editions/$edition/refund-batches/new', params: { edition } })}
    >
      {t.newBatch}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading title={t.batches} actions={list.data?.count !== 0 && create} />
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="refund-batches"
        label={t.batches}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => ({ to: '/editions/$edition/refund-batches/$batch', params: { edition, batch: id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.batchCount)}
        empty={{ title: t.batchEmpty, hint: t.batchEmptyHint, action: create }}
      />
    </Stack>
  )
}
