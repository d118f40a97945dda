import { Grid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { getWithEtag, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { ActivityList } from '../../parts/activity-list'
import { CodeBlock } from '../../parts/code-block'
import { Copy } from '../../parts/copy'
import { Facts } from '../../parts/facts'
import { Heading } from '../../parts/heading'
import { lazyDialog } from '../../parts/lazy-dialog'
import { Loaded } from '../../parts/loaded'
import { nameOrder } from '../../parts/name-order'
import { Numbers } from '../../parts/numbers'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { formatMoney, loadWords, words } from '../../words'
import { explainRefusal } from './action-reasons'
import { Emails } from './emails'
import { OrderStatus } from './order-status'
import { Lines, Payments, Refunds } from './payments'
import { findOrderMax } from './refund-max'
import { Tickets } from './tickets'

const CancelDialog = lazyDialog(async () => (await import('./cancel-dialog')).CancelDialog)
const ReceiptDialog = lazyDialog(async () => (await import('./receipt-dialog')).ReceiptDialog)
const RefundDialog = lazyDialog(async () => (await import('./refund-dialog')).RefundDialog)
const TicketDrawer = lazyDialog(async () => (await import('./ticket-drawer')).TicketDrawer)

const route = getRouteApi('/shell/editions/$edition/orders/$order')
const t = await loadWords('orders')

type OrderDetail = Schema['OrderDetail']

export function Order() {
  const { order: id } = route.useParams()
  const order = useQuery(getWithEtag('/v1/orders/{id}', { params: { path: { id } } }))
  return <Loaded query={order}>{({ data, etag }) => <OrderPage order={data} etag={etag} />}</Loaded>
}

function OrderPage({ order, etag }: { order: OrderDetail; etag: string | null }) {
  const { edition } = route.useParams()
  const { ticket } = route.useSearch()
  const navigate = useNavigate()
  const isArchived = useEdition()?.is_archived ?? false
  return (
    <Stack>
      <Heading
        title={`${t.one} ${nameOrder(order)}`}
        mark={<OrderStatus status={order.status} />}
        facts={
          <>
            <Time at={order.created} /> · {t.types[order.type]}
            {order.source !== null && ` · ${order.source}`}
          </>
        }
        back={{ link: { to: '/editions/$edition/orders', params: { edition } }, label: t.title }}
        actions={<Actions order={order} etag={etag} isArchived={isArchived} />}
      />
      <OrderNumbers order={order} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <Tickets order={order} />
            <Lines order={order} />
            <Payments order={order} />
            <Refunds edition={edition} order={order.id} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            <Customer order={order} edition={edition} />
            <Section title={t.emails}>
              <Emails emails={order.emails} />
            </Section>
            <Section title={words.states.activity}>
              <ActivityList path="/v1/orders/{id}/activity" id={order.id} />
            </Section>
            <Details order={order} />
          </Stack>
        </Grid.Col>
      </Grid>
      <TicketDrawer
        isOpen={ticket !== undefined}
        order={order}
        ticket={ticket}
        isArchived={isArchived}
        close={() => void navigate({ to: '.', search: {} as never, resetScroll: false })}
      />
    </Stack>
  )
}

function OrderNumbers({ order }: { order: OrderDetail }) {
  const { amount, currency, refunded_amount, pending_refund_amount, max_available_refund_amount } = order
  return (
    <Numbers
      figures={[
        { label: words.common.amount, value: formatMoney(amount, currency) },
        ...(refunded_amount > 0 ? [{ label: t.refunded, value: formatMoney(refunded_amount, currency) }] : []),
        ...(pending_refund_amount > 0
          ? [{ label: t.reserved, value: formatMoney(pending_refund_amount, currency) }]
          : []),
        { label: t.refundable, value: formatMoney(max_available_refund_amount, currency), hint: t.refundableHint },
      ]}
    />
  )
}

function Actions({ order, etag, isArchived }: { order: OrderDetail; etag: string | null; isArchived: boolean }) {
  const [dialog, setDialog] = useState<'refund' | 'cancel' | 'receipt'>()
  const close = () => setDialog(undefined)
  const explain = (action: OrderDetail['allowed_actions'][number]) => explainRefusal(order, action, isArchived)
  return (
    <>
      <ActionButton operation="createRefundRequest" reason={explain('refund')} onClick={() => setDialog('refund')}>
        {t.refund.open}
      </ActionButton>
      <ActionButton
        variant="default"
        operation="resendReceipt"
        reason={explain('resend_receipt')}
        onClick={() => setDialog('receipt')}
      >
        {t.receipt.title}
      </ActionButton>
      <ActionButton
        variant="default"
        c="var(--mantine-color-error)"
        operation="cancelOrder"
        reason={explain('cancel')}
        onClick={() => setDialog('cancel')}
      >
        {t.cancel.title}
      </ActionButton>
      <RefundDialog
        edition={order.edition.id}
        isOpen={dialog === 'refund'}
        close={close}
        target={{
          name: `${t.one} ${nameOrder(order)}`,
          body: { order_id: order.id },
          currency: order.currency,
          findMax: (withFees) => findOrderMax(order, withFees),
        }}
      />
      <CancelDialog order={order} etag={etag} isOpen={dialog === 'cancel'} close={close} />
      <ReceiptDialog order={order} isOpen={dialog === 'receipt'} close={close} />
    </>
  )
}

function Customer({ order: { customer }, edition }: { order: OrderDetail; edition: string }) {
  const { api_id, full_name, email, phone_number, date_joined, last_seen, metadata } = customer
  return (
    <Section title={words.common.customer}>
      <Text fw={600} component="div" className="break">
        <Link className="link" to="/editions/$edition/customers/$customer" params={{ edition, customer: api_id }}>
          {full_name || email || api_id}
        </Link>
      </Text>
      <Facts
        facts={[
          [
            words.common.email,
            email !== null && (
              <>
                {email} <Copy text={email} name={words.common.email} />
              </>
            ),
          ],
          [words.common.phone, phone_number],
          [t.customerSince, <Time key="since" at={date_joined} date />],
          [t.lastSeen, last_seen !== null && <Time at={last_seen} age />],
          ...Object.entries(metadata).map(
            ([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)] as const,
          ),
          [
            t.otherOrders,
            <Link
              key="orders"
              className="link"
              to="/editions/$edition/orders"
              params={{ edition }}
              search={{ customer_id: api_id }}
            >
              {t.allOrdersOfCustomer}
            </Link>,
          ],
        ]}
      />
    </Section>
  )
}

const Details = ({ order: { id, external_id, modified, metadata } }: { order: OrderDetail }) => (
  <Section title={t.details}>
    <Facts
      facts={[
        [
          t.id,
          <>
            {id} <Copy text={id} name={t.id} />
          </>,
        ],
        [t.externalId, external_id],
        [words.common.modified, <Time key="modified" at={modified} />],
      ]}
    />
    {Object.keys(metadata).length > 0 && (
      <CodeBlock text={JSON.stringify(metadata, null, 2)} name={t.metadata} height={200} />
    )}
  </Section>
)
