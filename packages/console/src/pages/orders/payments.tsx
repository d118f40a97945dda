import { Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { get, type Schema } from '../../api'
import { Copy } from '../../parts/copy'
import { Refusal } from '../../parts/refusal'
import { ScrollTable } from '../../parts/scroll-table'
import { Section } from '../../parts/section'
import { RefundStatus } from '../../parts/states'
import { Status, type Tone } from '../../parts/status'
import { Time } from '../../parts/time'
import { formatCount, formatMoney, loadWords, words } from '../../words'

const t = await loadWords('orders')

type Order = Schema['OrderDetail']

const describeItem = ({ product, variant, location, options }: Order['cart']['items'][number]): string =>
  [product.name, variant?.name, location?.name, ...options.map(({ name }) => name)].filter(Boolean).join(' · ')

/** Lists the lines of the receipt. */
export function Lines({ order: { cart, currency } }: { order: Order }) {
  return (
    <Section
      title={t.lines}
      actions={
        cart.coupon_code !== null && (
          <Text size="sm" c="dimmed">
            {t.coupon} {cart.coupon_code}
          </Text>
        )
      }
    >
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.product}</Table.Th>
            <Table.Th className="numbers">{t.quantity}</Table.Th>
            <Table.Th className="numbers" visibleFrom="sm">
              {t.price}
            </Table.Th>
            <Table.Th className="numbers">{t.sum}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {cart.items.map((item) => (
            <Table.Tr key={item.id}>
              <Table.Td className="break">{describeItem(item)}</Table.Td>
              <Table.Td className="numbers">{formatCount(item.quantity)}</Table.Td>
              <Table.Td className="numbers" visibleFrom="sm">
                {formatMoney(item.price_with_options, currency)}
              </Table.Td>
              <Table.Td className="numbers">{formatMoney(item.price_with_options * item.quantity, currency)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Table.Tfoot>
          {cart.summary.summary_lines.map(({ key, label, amount, is_total }) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" fw={is_total ? 700 : 400}>
                {(t.summary as Readonly<Record<string, string>>)[key] ?? label}
              </Table.Th>
              <Table.Td />
              <Table.Td visibleFrom="sm" />
              <Table.Td className="numbers" fw={is_total ? 700 : 400}>
                {formatMoney(amount, currency)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tfoot>
      </Table>
    </Section>
  )
}

type Transaction = Schema['Transaction']

const tones: Record<Transaction['status'], Tone> = {
  pending: 'act',
  authorized: 'wait',
  captured: 'good',
  failed: 'bad',
  cancelled: 'none',
  partially_refunded: 'none',
  refunded: 'none',
}

export const Payments = ({ order: { transactions } }: { order: Order }) => (
  <Section title={t.payments}>
    {transactions.length === 0 ? (
      <Text size="sm" c="dimmed">
        {t.noPayments}
      </Text>
    ) : (
      <Stack gap="sm">
        {transactions.map((transaction) => (
          <TransactionRow key={transaction.id} transaction={transaction} />
        ))}
      </Stack>
    )}
  </Section>
)

function TransactionRow({ transaction }: { transaction: Transaction }) {
  const { type, status, service, provider_reference: reference, amount, currency, created } = transaction
  const parts = [
    [t.refunded, transaction.refunded_amount],
    [t.reserved, transaction.pending_refund_amount],
  ] as const
  return (
    <Group justify="space-between" align="start" wrap="nowrap" gap="sm">
      <div>
        <Group gap="xs">
          <Text size="sm" fw={600}>
            {t.transactionTypes[type]}
          </Text>
          <Status tone={tones[status]} label={t.transactionStatuses[status]} />
        </Group>
        <Text size="sm" c="dimmed" component="div" className="break">
          {t.services[service]} · <Time at={created} />
          {reference !== null && (
            <>
              {' '}
              · {reference} <Copy text={reference} name={t.reference} />
            </>
          )}
        </Text>
      </div>
      <div>
        <Text className="numbers" fw={600}>
          {formatMoney(amount, currency)}
        </Text>
        {parts.map(
          ([label, part]) =>
            part > 0 && (
              <Text key={label} size="sm" c="dimmed" className="numbers">
                {label} {formatMoney(part, currency)}
              </Text>
            ),
        )}
      </div>
    </Group>
  )
}

/** The refund requests of the order, of which an API call shows the newest 100. Nothing is shown where there are none. */
export function Refunds({ edition, order }: { edition: string; order: string }) {
  const { data, error } = useQuery(get('/v1/refund-requests', { params: { query: { order_id: order } } }))
  if (error) return <Refusal error={error} />
  if (!data || data.count === 0) return null
  return (
    <Section title={words.common.entries.refunds}>
      <ScrollTable label={words.common.entries.refunds} width={440}>
        <Table.Tbody>
          {data.results.map((refund) => (
            <Table.Tr key={refund.id}>
              <Table.Td>
                <Link className="link" to="/editions/$edition/refunds/$refund" params={{ edition, refund: refund.id }}>
                  {words.states.refundReasons[refund.reason]}
                </Link>
                <Text size="sm" c="dimmed" className="break">
                  {refund.purchase?.product.name ?? t.wholeOrder}
                  {refund.waiting_reason !== null && ` · ${refund.waiting_reason}`}
                  {refund.failure_message !== null && ` · ${refund.failure_message}`}
                </Text>
              </Table.Td>
              <Table.Td>
                <RefundStatus status={refund.status} />
              </Table.Td>
              <Table.Td>
                <Time at={refund.created} />
              </Table.Td>
              <Table.Td className="numbers">
                {formatMoney(refund.approved_amount ?? refund.requested_amount, refund.currency)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Section>
  )
}
