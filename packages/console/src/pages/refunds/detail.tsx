import { Alert, Group, SimpleGrid, Stack, Text, Timeline } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get, type Schema } from '../../api'
import { AccountName } from '../../parts/account-name'
import { Copy } from '../../parts/copy'
import { Facts } from '../../parts/facts'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { nameOrder } from '../../parts/name-order'
import { linkTo } from '../../parts/record-link'
import { Section } from '../../parts/section'
import { EmailStatus, RefundStatus } from '../../parts/states'
import { Time } from '../../parts/time'
import { fill, formatMoney, loadWords, plural, words } from '../../words'
import { FailureNotice, RefundActions } from './actions'
import { usePolicy } from './use-policy'

type RefundRequest = Schema['RefundRequest']

const route = getRouteApi('/shell/editions/$edition/refunds/$refund')
const t = await loadWords('refunds')
const open: readonly RefundRequest['status'][] = ['approved', 'processing']

export function Refund() {
  const { edition, refund: id } = route.useParams()
  const refund = useQuery({
    ...get('/v1/refund-requests/{id}', { params: { path: { id } } }),
    // The provider answers in the background.
    refetchInterval: ({ state }) => (state.data && open.includes(state.data.data.status) ? 4000 : false),
  })
  return (
    <Loaded query={refund}>
      {(data) => (
        <Stack>
          <Heading
            title={`${t.one} ${formatMoney(data.approved_amount ?? data.requested_amount, data.currency)}`}
            mark={<RefundStatus status={data.status} />}
            facts={
              <>
                {t.order}{' '}
                <Link className="link" to="/editions/$edition/orders/$order" params={{ edition, order: data.order.id }}>
                  {nameOrder(data.order)}
                </Link>{' '}
                ·{' '}
                <Link className="link" {...linkTo(`/editions/${edition}/customers/${data.customer.api_id}`)}>
                  {data.customer.full_name || data.customer.email}
                </Link>{' '}
                · <Time at={data.created} />
              </>
            }
            back={{ link: { to: '/editions/$edition/refunds', params: { edition } }, label: t.title }}
            actions={<RefundActions refund={data} />}
          />
          <Notices refund={data} />
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Stack>
              <Money refund={data} />
              <Payment refund={data} />
            </Stack>
            <Stack>
              <Course refund={data} />
              <Details refund={data} edition={edition} />
            </Stack>
          </SimpleGrid>
        </Stack>
      )}
    </Loaded>
  )
}

function Notices({ refund }: { refund: RefundRequest }) {
  const isByHand = refund.status === 'processing' && refund.service === 'manual'
  return (
    <>
      {refund.status === 'pending' && <WhoMayApprove refund={refund} />}
      {refund.status === 'failed' && <FailureNotice refund={refund} />}
      {isByHand && (
        <Alert color="yellow" variant="outline" title={t.byHandTitle}>
          {t.byHandHint}
        </Alert>
      )}
      {!isByHand && refund.waiting_reason !== null && (
        <Alert color="yellow" variant="outline" title={refund.waiting_reason}>
          {t.waitsSince} <Time at={refund.waiting_since} />
          {refund.next_attempt_at !== null && (
            <>
              {' · '}
              {t.nextAttempt} <Time at={refund.next_attempt_at} age />
            </>
          )}
        </Alert>
      )}
    </>
  )
}

function WhoMayApprove({ refund }: { refund: RefundRequest }) {
  const policy = usePolicy()
  if (!policy) return null
  const limit = policy.manager_limit
  return (
    <Alert color="blue" variant="outline" title={t.whoMayApprove}>
      {policy.four_eyes ? t.anybodyElse : t.anybody}{' '}
      {typeof limit === 'number' && fill(t.limit, { amount: formatMoney(limit, refund.currency) })}
    </Alert>
  )
}

function Money({ refund }: { refund: RefundRequest }) {
  const write = (amount: number) => formatMoney(amount, refund.currency)
  const part = (amount: number) => (amount === 0 ? null : write(amount))
  const { breakdown } = refund
  return (
    <Section title={t.money}>
      <Facts
        facts={[
          [t.requested, write(refund.requested_amount)],
          [t.approved, refund.approved_amount === null ? null : write(refund.approved_amount)],
          [t.refunded, <b key="refunded">{write(refund.refunded_amount)}</b>],
          [t.price, part(breakdown.price)],
          [t.deposit, part(breakdown.deposit)],
          [t.handlingFee, part(breakdown.handling_fee)],
          [t.serviceFee, part(breakdown.service_fee)],
        ]}
      />
    </Section>
  )
}

/** The payment to which the money goes back, and the e-mails that the order got about refunds. */
function Payment({ refund }: { refund: RefundRequest }) {
  const order = useQuery(get('/v1/orders/{id}', { params: { path: { id: refund.order.id } } }))
  return (
    <Loaded query={order} heights={[140]}>
      {({ transactions, emails }) => {
        const payment = transactions.find(({ id }) => id === refund.transaction_id)
        const about = emails.filter(({ kind }) => kind.startsWith('refund_'))
        return (
          <>
            {payment && (
              <Section title={t.payment}>
                <PaymentFacts payment={payment} refund={refund} />
              </Section>
            )}
            <Section title={t.emails}>
              {about.length === 0 ? (
                <Text size="sm" c="dimmed">
                  {t.noEmails}
                </Text>
              ) : (
                <Stack gap={6}>
                  {about.map((email) => (
                    <Group key={email.created + email.kind} gap="xs">
                      <EmailStatus status={email.status} />
                      <Text size="sm">{words.states.emailKinds[email.kind]}</Text>
                      <Text size="sm" c="dimmed" component="div">
                        <Time at={email.sent_at ?? email.created} />
                      </Text>
                      {email.waiting_reason && <Text size="sm">{email.waiting_reason}</Text>}
                    </Group>
                  ))}
                </Stack>
              )}
            </Section>
          </>
        )
      }}
    </Loaded>
  )
}

function PaymentFacts({ payment, refund }: { payment: Schema['Transaction']; refund: RefundRequest }) {
  const write = (amount: number) => formatMoney(amount, payment.currency)
  return (
    <Facts
      facts={[
        [t.paidBy, t.services[payment.service]],
        [t.providerReference, payment.provider_reference && <Id key="id" id={payment.provider_reference} />],
        [t.paid, write(payment.amount)],
        [t.alreadyRefunded, payment.refunded_amount === 0 ? null : write(payment.refunded_amount)],
        [t.reserved, payment.pending_refund_amount === 0 ? null : write(payment.pending_refund_amount)],
        [t.left, write(payment.available_refund_amount)],
        [t.refundReference, refund.provider_reference && <Id key="refund" id={refund.provider_reference} />],
      ]}
    />
  )
}

const Id = ({ id }: { id: string }) => (
  <>
    {id} <Copy text={id} name="id" />
  </>
)

function Details({ refund, edition }: { refund: RefundRequest; edition: string }) {
  const yesNo = (is: boolean) => words.common[is ? 'yes' : 'no']
  const { purchase } = refund
  return (
    <Section title={t.details}>
      <Facts
        facts={[
          [t.reason, words.states.refundReasons[refund.reason]],
          [t.comment, refund.comment],
          [
            t.what,
            purchase === null
              ? t.targets[refund.target]
              : [purchase.product.name, purchase.variant?.name, purchase.vendor_code].filter(Boolean).join(' · '),
          ],
          [t.includesFees, yesNo(refund.include_fees)],
          [t.cancelsTicket, yesNo(refund.cancel_purchase)],
          [t.notifies, yesNo(refund.notify_customer)],
          [
            t.batch,
            refund.refund_batch_id && (
              <Link
                key="batch"
                className="link"
                to="/editions/$edition/refund-batches/$batch"
                params={{ edition, batch: refund.refund_batch_id }}
              >
                {t.batchOne}
              </Link>
            ),
          ],
          ['Id', <Id key="id" id={refund.id} />],
        ]}
      />
    </Section>
  )
}

interface Step {
  key: string
  title: ReactNode
  at: string | null
  note?: ReactNode
  isBad?: boolean
}

function listSteps(refund: RefundRequest): Step[] {
  const { status } = refund
  const isApproved = refund.approved_amount !== null
  const reviewer = refund.reviewed_by === null ? null : <AccountName id={refund.reviewed_by} />
  const steps: (Step | false)[] = [
    {
      key: 'asked',
      title: t.asked,
      at: refund.created,
      note: (
        <>
          {refund.requested_by === null ? t.atProvider : <AccountName id={refund.requested_by} isOwn={refund.is_own} />}
          {refund.requested_by !== null && ` · ${t.sources[refund.source]}`}
        </>
      ),
    },
    isApproved && {
      key: 'approved',
      title: reviewer === null ? t.autoApproved : t.approvedBy,
      at: refund.reviewed_at,
      note: (
        <>
          {reviewer} {refund.note}
        </>
      ),
    },
    refund.attempts > 0 && {
      key: 'attempts',
      title: plural(refund.attempts, t.attempts),
      at: null,
      note: refund.service && t.services[refund.service],
    },
    status === 'rejected' && {
      key: 'rejected',
      title: t.rejectedBy,
      at: refund.reviewed_at,
      note: (
        <>
          {reviewer} {refund.rejection_reason}
        </>
      ),
    },
    status === 'cancelled' && { key: 'cancelled', title: t.cancelledStep, at: refund.modified },
    refund.completed_at !== null && { key: 'completed', title: t.completed, at: refund.completed_at },
    status === 'failed' && { key: 'failed', title: t.failedStep, at: refund.modified, isBad: true },
  ]
  return steps.filter((step) => step !== false)
}

const Course = ({ refund }: { refund: RefundRequest }) => (
  <Section title={t.course}>
    <Timeline bulletSize={10} lineWidth={2} active={99}>
      {listSteps(refund).map(({ key, title, at, note, isBad }) => (
        <Timeline.Item
          key={key}
          color={isBad ? 'red' : undefined}
          title={
            <Text size="sm" span>
              {title}
            </Text>
          }
        >
          <Text size="sm" c="dimmed" component="div" className="break">
            {at !== null && <Time at={at} />}
            {at !== null && note !== undefined && ' · '}
            {note}
          </Text>
        </Timeline.Item>
      ))}
    </Timeline>
  </Section>
)
