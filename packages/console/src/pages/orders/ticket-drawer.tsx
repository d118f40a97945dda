import { Drawer, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, get, type Schema } from '../../api'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { CodeBlock } from '../../parts/code-block'
import { Copy } from '../../parts/copy'
import { Facts } from '../../parts/facts'
import { Loaded } from '../../parts/loaded'
import { Refusal } from '../../parts/refusal'
import { Section } from '../../parts/section'
import { PurchaseStatus, RefundStatus } from '../../parts/states'
import { Time } from '../../parts/time'
import { formatCount, formatMoney, loadWords, words } from '../../words'
import { Passes } from './passes'
import { RefundDialog } from './refund-dialog'
import { findTicketMax } from './refund-max'
import { countUses, describeChoice } from './tickets'

const ordersWords = await loadWords('orders')

const t = ordersWords.ticket
type Order = Schema['OrderDetail']
type Ticket = Schema['PurchaseDetail']

interface Props {
  isOpen: boolean
  order: Order
  ticket: string | undefined
  isArchived: boolean
  close: () => void
}

/** A ticket with its uses, passes and refunds, beside its order. */
export const TicketDrawer = ({ isOpen, order, ticket, isArchived, close }: Props) => (
  <Drawer opened={isOpen} onClose={close} position="right" size="lg" title={t.one}>
    {ticket !== undefined && <TicketPage order={order} id={ticket} isArchived={isArchived} />}
  </Drawer>
)

function TicketPage({ order, id, isArchived }: { order: Order; id: string; isArchived: boolean }) {
  const ticket = useQuery(get('/v1/purchases/{id}', { params: { path: { id } } }))
  return (
    <Loaded query={ticket} heights={[120, 80, 80]}>
      {(data) => (
        <Stack>
          <TicketFacts ticket={data} order={order} />
          <Uses ticket={data} isArchived={isArchived} />
          <Passes ticket={data} isArchived={isArchived} />
          <TicketRefunds ticket={data} order={order} />
          {Object.keys(data.metadata).length > 0 && (
            <Section title={ordersWords.metadata}>
              <CodeBlock text={JSON.stringify(data.metadata, null, 2)} name={ordersWords.metadata} />
            </Section>
          )}
        </Stack>
      )}
    </Loaded>
  )
}

function TicketFacts({ ticket, order }: { ticket: Ticket; order: Order }) {
  const money = (amount: number) => (amount > 0 ? formatMoney(amount, order.currency) : null)
  return (
    <div>
      <Group gap="sm" mb={4}>
        <Text fw={600} size="lg" className="break">
          {ticket.product.name}
        </Text>
        <PurchaseStatus status={ticket.status} />
      </Group>
      <Facts
        facts={[
          [t.choice, describeChoice(ticket)],
          [
            t.code,
            ticket.vendor_code !== null && (
              <>
                {ticket.vendor_code} <Copy text={ticket.vendor_code} name={t.code} />
              </>
            ),
          ],
          [
            t.holder,
            <Link
              key="holder"
              className="link"
              to="/editions/$edition/customers/$customer"
              params={{ edition: ticket.edition.id, customer: ticket.user.api_id }}
            >
              {ticket.user.full_name || ticket.user.email}
            </Link>,
          ],
          [t.validUntil, ticket.valid_until !== null && <Time at={ticket.valid_until} />],
          [ordersWords.price, formatMoney(ticket.price_paid, order.currency)],
          [t.deposit, money(ticket.deposit_paid)],
          [t.handlingFee, money(ticket.handling_fee_paid)],
          [ordersWords.refunded, money(ticket.refunded_amount)],
          [ordersWords.reserved, money(ticket.pending_refund_amount)],
          [
            t.id,
            <>
              {ticket.id} <Copy text={ticket.id} name={t.id} />
            </>,
          ],
        ]}
      />
    </div>
  )
}

/** Tells why a ticket cannot be used now. */
function explainUnusable({ status, is_unlimited_use, available_uses }: Ticket): string | null {
  if (status !== 'active') return ordersWords.ticket.unusable[status]
  return !is_unlimited_use && available_uses === 0 ? ordersWords.ticket.unusable.used : null
}

function Uses({ ticket, isArchived }: { ticket: Ticket; isArchived: boolean }) {
  const path = { id: ticket.id }
  const use = useChange(
    (_: void, headers) => api.POST('/v1/purchases/{id}/uses', { params: { path }, body: { quantity: 1 }, headers }),
    { done: t.useDone },
  )
  const revert = useChange(
    (useId: string, headers) =>
      api.POST('/v1/purchases/{id}/uses/{use_id}/revert', { params: { path: { ...path, use_id: useId } }, headers }),
    { done: t.revertDone },
  )
  const archived = isArchived ? ordersWords.refusals.archived : null
  return (
    <Section
      title={t.uses}
      hint={`${t.usesLeft}: ${countUses(ticket)}`}
      actions={
        <ActionButton
          size="xs"
          variant="default"
          operation="createPurchaseUse"
          reason={archived ?? explainUnusable(ticket)}
          loading={use.isPending}
          onClick={() => use.mutate()}
        >
          {t.useOnce}
        </ActionButton>
      }
    >
      <Stack gap={6}>
        {(use.error ?? revert.error) && <Refusal error={(use.error ?? revert.error) as Error} />}
        {ticket.uses.length === 0 && (
          <Text size="sm" c="dimmed">
            {t.noUses}
          </Text>
        )}
        {ticket.uses.map(({ id, quantity, location, used_at, reverted_at }) => (
          <Group key={id} justify="space-between" gap="xs">
            <Text size="sm" component="div" c={reverted_at === null ? undefined : 'dimmed'}>
              <Time at={used_at} />
              {quantity > 1 && ` × ${formatCount(quantity)}`}
              {location !== null && ` · ${location.name}`}
              {reverted_at !== null && (
                <>
                  {' '}
                  · {t.reverted} <Time at={reverted_at} />
                </>
              )}
            </Text>
            {reverted_at === null && (
              <ActionButton
                size="compact-sm"
                variant="subtle"
                operation="revertPurchaseUse"
                reason={archived}
                loading={revert.isPending && revert.variables === id}
                onClick={() => revert.mutate(id)}
              >
                {t.revert}
              </ActionButton>
            )}
          </Group>
        ))}
      </Stack>
    </Section>
  )
}

function TicketRefunds({ ticket, order }: { ticket: Ticket; order: Order }) {
  const [isOpen, setOpen] = useState(false)
  const { currency } = order
  const findMax = (withFees: boolean) => findTicketMax(ticket, order, withFees)
  const max = findMax(true)
  const isHeld = ticket.status === 'active' || ticket.status === 'used'
  const reason = max > 0 || (isHeld && order.transactions.length > 0) ? null : ordersWords.refusals.nothingLeft
  return (
    <Section
      title={words.common.entries.refunds}
      hint={`${ordersWords.refund.max}: ${formatMoney(ticket.max_available_refund_amount, currency)}`}
      actions={
        <ActionButton
          size="xs"
          variant="default"
          operation="createRefundRequest"
          reason={reason}
          onClick={() => setOpen(true)}
        >
          {ordersWords.refund.open}
        </ActionButton>
      }
    >
      <Stack gap={6}>
        {ticket.refund_requests.length === 0 && (
          <Text size="sm" c="dimmed">
            {t.noRefunds}
          </Text>
        )}
        {ticket.refund_requests.map(({ id, status, requested_amount, created }) => (
          <Group key={id} gap="xs" justify="space-between">
            <Link
              className="link"
              to="/editions/$edition/refunds/$refund"
              params={{ edition: ticket.edition.id, refund: id }}
            >
              {formatMoney(requested_amount, currency)}
            </Link>
            <RefundStatus status={status} />
            <Text size="sm" c="dimmed" component="div">
              <Time at={created} />
            </Text>
          </Group>
        ))}
      </Stack>
      <RefundDialog
        edition={ticket.edition.id}
        isOpen={isOpen}
        close={() => setOpen(false)}
        target={{ name: ticket.product.name, body: { purchase_id: ticket.id }, currency, findMax }}
      />
    </Section>
  )
}
