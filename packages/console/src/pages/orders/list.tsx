import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getList, type Schema } from '../../api'
import { ExportButton } from '../../parts/export-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { nameOrder } from '../../parts/name-order'
import { useProductNames } from '../../parts/product-names'
import { type Column, RecordList } from '../../parts/record-list'
import { Time } from '../../parts/time'
import { formatCount, formatMoney, loadWords, plural, words } from '../../words'
import { OrderStatus } from './order-status'

const route = getRouteApi('/shell/editions/$edition/orders')
const t = await loadWords('orders')
const pageSize = 50

type Order = Schema['OrderListItem']

const columns: Column<Order>[] = [
  { key: 'number', label: t.number, sort: 'order_number', cell: nameOrder },
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
  { key: 'items', label: words.common.tickets, isNumber: true, cell: (order) => formatCount(order.items_count) },
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
  { key: 'external', label: t.externalId, isHidden: true, cell: (order) => order.external_id },
  { key: 'created', label: words.common.created, sort: 'created', cell: (order) => <Time at={order.created} /> },
  {
    key: 'modified',
    label: words.common.modified,
    sort: 'modified',
    isHidden: true,
    cell: (order) => <Time at={order.modified} />,
  },
]

const listFilters = (products: Readonly<Record<string, string>>): Filter[] => [
  { key: 'customer_name', label: t.customerName, kind: 'text' },
  { key: 'status', label: words.common.status, kind: 'choice', options: t.statuses },
  { key: 'product_id', label: t.product, kind: 'choice', options: products },
  { key: 'type', label: words.common.type, kind: 'choice', options: t.types, isExtra: true },
  { key: 'created_after', label: t.createdAfter, kind: 'day', isExtra: true },
  { key: 'created_before', label: t.createdBefore, kind: 'day', last: true, isExtra: true },
  { key: 'ticket_code', label: t.ticketCode, kind: 'text', isExtra: true },
  { key: 'external_id', label: t.externalId, kind: 'text', isExtra: true },
  { key: 'source', label: t.source, kind: 'text', isExtra: true },
  { key: 'data_import_id', label: t.importId, kind: 'text', isExtra: true },
  { key: 'transaction_id', label: t.paymentId, kind: 'text', isExtra: true },
  { key: 'customer_id', label: t.customerId, kind: 'text', isExtra: true },
]

/** The filters that the list of tickets has too. */
const ticketFilters = ['product_id', 'created_after', 'created_before']

export function Orders() {
  const { edition } = route.useParams()
  const search = route.useSearch()
  const { ordering = '-created', page, cursor, ...filters } = search
  const query = { edition_id: edition, page_size: pageSize, ...filters, page, cursor, ordering: [ordering] }
  const list = useQuery(getList('/v1/orders', { params: { query } }))
  const { product_id, created_after, created_before } = filters
  const hasOtherFilters = Object.keys(filters).some((key) => !ticketFilters.includes(key))
  return (
    <Stack gap="sm">
      <Heading
        title={t.title}
        actions={
          <>
            <ExportButton
              operation="exportOrders"
              path="/v1/orders/export"
              init={{ params: { query: { edition_id: edition, ...filters } } }}
              fileName="orders.csv"
              label={t.exportOrders}
            />
            <ExportButton
              operation="exportPurchases"
              path="/v1/purchases/export"
              init={{ params: { query: { edition_id: edition, product_id, created_after, created_before } } }}
              fileName="tickets.csv"
              label={t.exportTickets}
              reason={hasOtherFilters ? t.exportTicketsRefusal : null}
            />
          </>
        }
      />
      <FilterBar search={search} filters={listFilters(useProductNames(edition))} searchHint={t.searchHint} />
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
