import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getList, type Schema } from '../../api'
import { nameOrder } from '../../parts/name-order'
import { linkTo } from '../../parts/record-link'
import { type Column, RecordList } from '../../parts/record-list'
import { PurchaseStatus, RefundStatus } from '../../parts/states'
import { Status, type Tone } from '../../parts/status'
import { Time } from '../../parts/time'
import { formatCount, formatMoney, loadWords, plural, words } from '../../words'

const ordersWords = await loadWords('orders')

const t = await loadWords('users')
const pageSize = 50

export interface ListProps {
  customer: string
  edition: string
  search: { page?: number; cursor?: string; ordering?: string }
}

const pickPlace = ({ page, cursor }: ListProps['search']) => ({ page, cursor, page_size: pageSize })
const readPlace = ({ page, ordering }: ListProps['search']) => ({
  ...(page !== undefined && { page }),
  ...(ordering !== undefined && { ordering }),
})

const orderTones: Record<Schema['OrderListItem']['status'], Tone> = {
  pending: 'act',
  confirmed: 'wait',
  completed: 'good',
  cancelled: 'none',
}

const orderColumns: Column<Schema['OrderListItem']>[] = [
  { key: 'number', label: t.order, cell: nameOrder },
  {
    key: 'status',
    label: words.common.status,
    cell: ({ status }) => <Status tone={orderTones[status]} label={ordersWords.statuses[status]} />,
  },
  { key: 'edition', label: t.edition, cell: ({ edition }) => edition.full_name },
  { key: 'items', label: words.common.tickets, isNumber: true, cell: ({ items_count }) => formatCount(items_count) },
  {
    key: 'amount',
    label: words.common.amount,
    isNumber: true,
    isMain: true,
    cell: ({ amount, currency }) => formatMoney(amount, currency),
  },
  { key: 'created', label: words.common.created, cell: ({ created }) => <Time at={created} /> },
]

export function Orders({ customer, search }: ListProps) {
  const query = { customer_id: customer, ...pickPlace(search), ordering: ['-created' as const] }
  const list = useQuery(getList('/v1/orders', { params: { query } }))
  return (
    <RecordList
      name="customer-orders"
      label={t.tabs.orders}
      list={list}
      search={readPlace(search)}
      columns={orderColumns}
      rowKey={({ id }) => id}
      link={({ id, edition }) => ({
        to: '/editions/$edition/orders/$order',
        params: { edition: edition.id, order: id },
      })}
      pageSize={pageSize}
      countLabel={(count) => plural(count, t.orderCount)}
      empty={{ title: t.noOrders }}
    />
  )
}

type Ticket = Schema['PurchaseListItem']

const ticketColumns: Column<Ticket>[] = [
  {
    key: 'product',
    label: t.ticket,
    cell: ({ product, variant }) => [product.name, variant?.name].filter(Boolean).join(' · '),
  },
  { key: 'status', label: words.common.status, cell: ({ status }) => <PurchaseStatus status={status} /> },
  { key: 'code', label: t.code, cell: ({ vendor_code }) => vendor_code },
  { key: 'order', label: t.order, cell: ({ order }) => nameOrder(order) },
  {
    key: 'uses',
    label: t.usesLeft,
    isNumber: true,
    cell: ({ available_uses, is_unlimited_use }) => (is_unlimited_use ? t.unlimited : formatCount(available_uses)),
  },
  {
    key: 'valid',
    label: t.validUntil,
    isHidden: true,
    cell: ({ valid_until }) => valid_until && <Time at={valid_until} />,
  },
  { key: 'created', label: words.common.created, cell: ({ created }) => <Time at={created} /> },
]

export function Tickets({ customer, edition, search }: ListProps) {
  const query = { user_id: customer, ...pickPlace(search), ordering: ['-created' as const] }
  const list = useQuery(getList('/v1/purchases', { params: { query } }))
  return (
    <RecordList
      name="customer-tickets"
      label={t.tabs.tickets}
      list={list}
      search={readPlace(search)}
      columns={ticketColumns}
      rowKey={({ id }) => id}
      link={({ order }) => ({ to: '/editions/$edition/orders/$order', params: { edition, order: order.id } })}
      pageSize={pageSize}
      countLabel={(count) => plural(count, t.ticketCount)}
      empty={{ title: t.noTickets }}
    />
  )
}

const refundColumns: Column<Schema['RefundRequest']>[] = [
  { key: 'order', label: t.order, cell: ({ order }) => nameOrder(order) },
  { key: 'status', label: words.common.status, cell: ({ status }) => <RefundStatus status={status} /> },
  { key: 'reason', label: t.why, cell: ({ reason }) => words.states.refundReasons[reason] },
  {
    key: 'amount',
    label: words.common.amount,
    isNumber: true,
    cell: (refund) => formatMoney(refund.approved_amount ?? refund.requested_amount, refund.currency),
  },
  { key: 'created', label: words.common.created, cell: ({ created }) => <Time at={created} /> },
]

export function Refunds({ customer, search }: ListProps) {
  const query = { customer_id: customer, ...pickPlace(search), ordering: ['-created' as const] }
  const list = useQuery(getList('/v1/refund-requests', { params: { query } }))
  return (
    <RecordList
      name="customer-refunds"
      label={t.tabs.refunds}
      list={list}
      search={readPlace(search)}
      columns={refundColumns}
      rowKey={({ id }) => id}
      link={({ id, edition }) => ({
        to: '/editions/$edition/refunds/$refund',
        params: { edition: edition.id, refund: id },
      })}
      pageSize={pageSize}
      countLabel={(count) => plural(count, t.refundCount)}
      empty={{ title: t.noRefunds }}
    />
  )
}

type Message = Schema['UserMessage']

const messageTones: Record<Message['status'], Tone> = { pending: 'wait', sent: 'good', failed: 'bad', skipped: 'none' }
const reasons: Readonly<Record<string, string>> = t.skipReasons

/** Names the events after the message was sent. */
function listEngagements(message: Message): string {
  const { opened_at, clicked_at, bounced_at, complained_at, unsubscribed_at } = message
  const times = {
    opened: opened_at,
    clicked: clicked_at,
    bounced: bounced_at,
    complained: complained_at,
    unsubscribed: unsubscribed_at,
  }
  return (Object.keys(times) as (keyof typeof times)[])
    .flatMap((key) => (times[key] === null ? [] : [t.engagements[key]]))
    .join(', ')
}

const messageColumns: Column<Message>[] = [
  { key: 'message', label: t.message, cell: ({ kind, name }) => name || t.messageKinds[kind] },
  { key: 'channel', label: t.channel, cell: ({ channel }) => t.channels[channel] },
  {
    key: 'status',
    label: words.common.status,
    cell: ({ status }) => <Status tone={messageTones[status]} label={t.messageStatuses[status]} />,
  },
  {
    key: 'became',
    label: t.became,
    cell: (message) => (
      <Text size="sm" span>
        {message.reason === null ? listEngagements(message) : (reasons[message.reason] ?? message.reason)}
      </Text>
    ),
  },
  { key: 'to', label: t.to, isHidden: true, cell: ({ recipient }) => recipient },
  { key: 'created', label: words.common.created, cell: ({ sent_at, created }) => <Time at={sent_at ?? created} /> },
]

const readMessageLink = ({ kind, id, order_id }: Message, edition: string) =>
  kind === 'campaign'
    ? `/editions/${edition}/campaigns/${id}`
    : order_id !== null
      ? `/editions/${edition}/orders/${order_id}`
      : null

export function Messages({ customer, edition, search }: ListProps) {
  const query = { ...pickPlace(search), ordering: ['-created' as const] }
  const list = useQuery(getList('/v1/user/{id}/messages', { params: { path: { id: customer }, query } }))
  return (
    <RecordList
      name="customer-messages"
      label={t.tabs.messages}
      list={list}
      search={readPlace(search)}
      columns={messageColumns}
      rowKey={({ id, kind, created }) => `${kind}${id}${created}`}
      link={(message) => {
        const link = readMessageLink(message, message.edition_id ?? edition)
        return link === null ? { to: '.' } : linkTo(link)
      }}
      pageSize={pageSize}
      countLabel={(count) => plural(count, t.messageCount)}
      empty={{ title: t.noMessages }}
    />
  )
}

const segmentColumns: Column<Schema['UserSegment']>[] = [
  { key: 'name', label: t.segment, cell: ({ name }) => name },
  {
    key: 'member',
    label: t.isMember,
    cell: ({ is_member }) => <Status tone={is_member ? 'good' : 'none'} label={is_member ? t.member : t.notMember} />,
  },
  {
    key: 'why',
    label: t.why,
    cell: ({ excluded_for }) => excluded_for && (reasons[excluded_for] ?? excluded_for),
  },
  {
    key: 'kind',
    label: t.kind,
    cell: ({ communication_type, communication_channel }) =>
      `${t.segmentTypes[communication_type]} · ${t.channels[communication_channel]}`,
  },
  {
    key: 'was',
    label: t.wasMember,
    cell: ({ was_member }) => (was_member === null ? '–' : was_member ? t.member : t.notMember),
  },
]

export function Segments({ customer, edition, search }: ListProps) {
  const { page, cursor } = search
  const query = { edition_id: edition, page, cursor }
  const list = useQuery(getList('/v1/user/{id}/segments', { params: { path: { id: customer }, query } }))
  return (
    <RecordList
      name="customer-segments"
      label={t.tabs.segments}
      list={list}
      search={readPlace(search)}
      columns={segmentColumns}
      rowKey={({ id }) => id}
      link={({ id }) => linkTo(`/editions/${edition}/segments/${id}`)}
      pageSize={100}
      countLabel={(count) => plural(count, t.segmentCount)}
      empty={{ title: t.noSegments }}
    />
  )
}
