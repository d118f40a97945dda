import { Anchor, Paper, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, type LinkProps } from '@tanstack/react-router'
import { get, getList, type Schema } from '../../api'
import { AccountName } from '../../parts/account-name'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { nameOrder } from '../../parts/name-order'
import { Numbers } from '../../parts/numbers'
import { type Column, RecordList } from '../../parts/record-list'
import { ScrollTable } from '../../parts/scroll-table'
import { Section } from '../../parts/section'
import { RefundStatus } from '../../parts/states'
import { Time } from '../../parts/time'
import { countFilters } from '../../search'
import { formatMoney, loadWords, plural, words } from '../../words'
import { RefundActions } from './actions'
import { formatAmounts } from './money'

type Refund = Schema['RefundRequest']
type Status = Refund['status']

const route = getRouteApi('/shell/editions/$edition/refunds')
const t = await loadWords('refunds')
const pageSize = 50
const queueSize = 10

const orderName = ({ order }: Refund): string => nameOrder(order)

/** Names the refunded thing, such as a ticket. */
const describeTarget = ({ purchase, target }: Refund): string =>
  purchase === null ? t.targets[target] : [purchase.product.name, purchase.variant?.name].filter(Boolean).join(' · ')

const Requester = ({ refund }: { refund: Refund }) =>
  refund.requested_by === null ? t.atProvider : <AccountName id={refund.requested_by} isOwn={refund.is_own} />

const columns: Column<Refund>[] = [
  { key: 'order', label: t.order, cell: orderName },
  {
    key: 'customer',
    label: words.common.customer,
    cell: ({ customer }) => (
      <>
        {customer.full_name}{' '}
        <Text size="sm" c="dimmed" component="span">
          {customer.email}
        </Text>
      </>
    ),
  },
  { key: 'status', label: words.common.status, sort: 'status', cell: ({ status }) => <RefundStatus status={status} /> },
  { key: 'what', label: t.what, cell: describeTarget },
  { key: 'reason', label: t.reason, cell: ({ reason }) => words.states.refundReasons[reason] },
  {
    key: 'amount',
    label: words.common.amount,
    sort: 'requested_amount',
    isNumber: true,
    cell: (refund) => formatMoney(refund.approved_amount ?? refund.requested_amount, refund.currency),
  },
  { key: 'by', label: t.requestedBy, cell: (refund) => <Requester refund={refund} /> },
  { key: 'source', label: t.source, isHidden: true, cell: ({ source }) => t.sources[source] },
  { key: 'created', label: t.requested, sort: 'created', cell: ({ created }) => <Time at={created} /> },
  {
    key: 'modified',
    label: t.modified,
    sort: 'modified',
    isHidden: true,
    cell: ({ modified }) => <Time at={modified} />,
  },
]

const filters: Filter[] = [
  { key: 'status', label: words.common.status, kind: 'choice', options: words.states.refund },
  { key: 'reason', label: t.reason, kind: 'choice', options: words.states.refundReasons },
  { key: 'source', label: t.source, kind: 'choice', options: t.sources, isExtra: true },
  { key: 'created_after', label: t.createdAfter, kind: 'day', isExtra: true },
  { key: 'created_before', label: t.createdBefore, kind: 'day', last: true, isExtra: true },
  { key: 'refund_batch_id', label: t.batch, kind: 'text', isExtra: true },
  { key: 'order_id', label: t.order, kind: 'text', isExtra: true },
  { key: 'customer_id', label: words.common.customer, kind: 'text', isExtra: true },
]

const toRefund = (edition: string, { id }: Refund): LinkProps => ({
  to: '/editions/$edition/refunds/$refund',
  params: { edition, refund: id },
})

export function Refunds() {
  const { edition } = route.useParams()
  const search = route.useSearch()
  const { ordering = '-created', ...others } = search
  const query = { edition_id: edition, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery(getList('/v1/refund-requests', { params: { query } }))
  const isWhole = countFilters(search) === 0 && others.page === undefined
  return (
    <Stack gap="sm">
      <Heading title={t.title} />
      <Sums edition={edition} />
      {isWhole && list.data !== undefined && list.data.count > 0 && <Queue edition={edition} />}
      <FilterBar search={search} filters={filters} searchHint={t.searchHint} />
      <RecordList
        name="refunds"
        label={t.all}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={(refund) => toRefund(edition, refund)}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{
          title: t.empty,
          hint: t.emptyHint,
          action: (
            <Link className="link" to="/editions/$edition/orders" params={{ edition }}>
              {t.openOrders}
            </Link>
          ),
        }}
      />
    </Stack>
  )
}

type Sum = Schema['EditionStats']['refunds'][number]

function Sums({ edition }: { edition: string }) {
  const query = { group_by: ['status' as const] }
  const stats = useQuery(get('/v1/editions/{id}/stats', { params: { path: { id: edition }, query } }))
  const figures: readonly [Status, string, 'requested_amount' | 'refunded_amount'][] = [
    ['pending', t.queue, 'requested_amount'],
    ['processing', t.underWay, 'requested_amount'],
    ['failed', t.failed, 'requested_amount'],
    ['completed', t.paidBack, 'refunded_amount'],
  ]
  return (
    <Loaded query={stats} heights={[84]}>
      {({ refunds }) =>
        refunds.length > 0 && (
          <Numbers
            figures={figures.map(([status, label, column]) => {
              const rows = refunds.filter((row: Sum) => row.status === status)
              const count = rows.reduce((total, row) => total + row.count, 0)
              return {
                label,
                value: rows.length === 0 ? '–' : formatAmounts(rows.map((row) => ({ ...row, amount: row[column] }))),
                hint: count > 0 && (
                  <Anchor
                    size="sm"
                    renderRoot={(props) => (
                      <Link
                        {...props}
                        to="/editions/$edition/refunds"
                        params={{ edition }}
                        search={{ status: status as 'pending' }}
                      />
                    )}
                  >
                    {plural(count, t.count)}
                  </Anchor>
                ),
              }
            })}
          />
        )
      }
    </Loaded>
  )
}

/** The requests that somebody has to decide about. */
function Queue({ edition }: { edition: string }) {
  const query = {
    edition_id: edition,
    status: 'pending' as const,
    page_size: queueSize,
    ordering: ['created' as const],
  }
  const queue = useQuery(get('/v1/refund-requests', { params: { query } }))
  return (
    <Section title={t.queue} hint={queue.data?.count === 0 ? t.queueEmpty : t.queueHint}>
      <Loaded query={queue} heights={[120]}>
        {({ results, count }) =>
          count > 0 && (
            <>
              <QueueRows edition={edition} refunds={results} />
              {count > queueSize && (
                <Link
                  className="link"
                  to="/editions/$edition/refunds"
                  params={{ edition }}
                  search={{ status: 'pending' }}
                >
                  {plural(count - queueSize, t.queueMore)}
                </Link>
              )}
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

const QueueRows = ({ edition, refunds }: { edition: string; refunds: readonly Refund[] }) => (
  <>
    <Stack gap="xs" hiddenFrom="sm">
      {refunds.map((refund) => (
        <Paper key={refund.id} withBorder p="sm">
          <Stack gap={6}>
            <Text fw={600} size="sm" component="div">
              <Link className="link" {...toRefund(edition, refund)}>
                {formatMoney(refund.requested_amount, refund.currency)} · {refund.customer.full_name}
              </Link>
            </Text>
            <Text size="sm" c="dimmed" component="div">
              {orderName(refund)} · {describeTarget(refund)} · <Requester refund={refund} /> ·{' '}
              <Time at={refund.created} age />
            </Text>
            <RefundActions refund={refund} size="xs" only={['approve', 'reject']} />
          </Stack>
        </Paper>
      ))}
    </Stack>
    <ScrollTable label={t.title} width={820} visibleFrom="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.order}</Table.Th>
          <Table.Th>{words.common.customer}</Table.Th>
          <Table.Th>{t.what}</Table.Th>
          <Table.Th ta="right">{words.common.amount}</Table.Th>
          <Table.Th>{t.requestedBy}</Table.Th>
          <Table.Th>{t.requested}</Table.Th>
          <Table.Td />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {refunds.map((refund) => (
          <Table.Tr key={refund.id}>
            <Table.Td>
              <Link className="link" {...toRefund(edition, refund)}>
                {orderName(refund)}
              </Link>
            </Table.Td>
            <Table.Td className="nowrap">{refund.customer.full_name || refund.customer.email}</Table.Td>
            <Table.Td className="nowrap">{describeTarget(refund)}</Table.Td>
            <Table.Td className="numbers">{formatMoney(refund.requested_amount, refund.currency)}</Table.Td>
            <Table.Td>
              <Requester refund={refund} />
            </Table.Td>
            <Table.Td>
              <Time at={refund.created} age />
            </Table.Td>
            <Table.Td>
              <RefundActions refund={refund} size="xs" only={['approve', 'reject']} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  </>
)
