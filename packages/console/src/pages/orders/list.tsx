import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getList, type Schema } from '../../api'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { Time } from '../../parts/time'
import { formatCount, formatMoney, plural, words } from '../../words'
import { OrderStatus } from './order-status'

const route = getRouteApi('/shell/editions/$edition/orders')
const t = words.orders
const pageSize = 50

type Order = Schema['OrderListItem']

const columns: Column<Order>[] = [
  {
    key: 'number',
    label: t.number,
    sort: 'order_number',
    cell: (order) => order.order_number ?? order.external_id ?? order.id,
  },
  {
    key: 'customer',
    label: words.common.customer,
    cell: (order) => (
      <Text size="sm" component="span">
        {order.customer_name}{' '}
        <Text size="sm" c="dimmed" component="span">
          {order.customer_email}
        </Text>
      </Text>
    ),
  },
  { key: 'status', label: words.common.status, sort: 'status', cell: (order) => <OrderStatus status={order.status} /> },
  { key: 'type', label: words.common.type, sort: 'type', cell: (order) => t.types[order.type] },
  { key: 'items', label: t.items, isNumber: true, cell: (order) => formatCount(order.items_count) },
  {
    key: 'amount',
    label: words.common.amount,
    sort: 'amount',
    isNumber: true,
    isMain: true,
    cell: (order) => formatMoney(order.amount, order.currency),
  },
  { key: 'payment', label: t.payment, cell: (order) => (order.has_payment ? t.paid : t.unpaid) },
  { key: 'source', label: t.source, isHidden: true, cell: (order) => order.source },
  { key: 'created', label: words.common.created, sort: 'created', cell: (order) => <Time at={order.created} /> },
]

const filters: Filter[] = [
  { key: 'status', label: words.common.status, kind: 'choice', options: t.statuses },
  { key: 'type', label: words.common.type, kind: 'choice', options: t.types },
  { key: 'created_after', label: t.createdAfter, kind: 'day', isExtra: true },
  { key: 'created_before', label: t.createdBefore, kind: 'day', last: true, isExtra: true },
  { key: 'external_id', label: t.externalId, kind: 'text', isExtra: true },
  { key: 'source', label: t.source, kind: 'text', isExtra: true },
  { key: 'ticket_code', label: t.ticketCode, kind: 'text', isExtra: true },
]

export function Orders() {
  const { edition } = route.useParams()
  const search = route.useSearch()
  const { ordering = '-created', ...others } = search
  const query = { edition_id: edition, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery(getList('/v1/orders', { params: { query } }))
  return (
    <Stack gap="sm">
      <Heading title={t.title} />
      <FilterBar search={search} filters={filters} searchHint={t.searchHint} />
      <RecordList
        name="orders"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => ({ to: '/editions/$edition/orders/$order', params: { edition, order: id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint }}
      />
    </Stack>
  )
}
