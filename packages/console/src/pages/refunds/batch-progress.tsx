import { Alert, Group, Progress, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, get, type Schema } from '../../api'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { Loaded } from '../../parts/loaded'
import { nameOrder } from '../../parts/name-order'
import { Refusal } from '../../parts/refusal'
import { ScrollTable } from '../../parts/scroll-table'
import { Section } from '../../parts/section'
import { formatCount, formatMoney, loadWords, plural, words } from '../../words'
import { RefundActions } from './actions'
import { formatAmounts } from './money'

type Batch = Schema['RefundBatch']
type Refund = Schema['RefundRequest']
type State = keyof typeof t.states

const t = await loadWords('refunds')
const failuresShown = 20

const colours: Record<State, string> = {
  completed: 'teal.7',
  open: 'blue.6',
  failed: 'red.7',
  waiting: 'gray.4',
  skipped: 'gray.6',
}
const statuses: Partial<Record<State, Refund['status']>> = {
  completed: 'completed',
  open: 'processing',
  failed: 'failed',
}

/** The orders of the dry run by what became of them. They add up to its number. */
function countStates({ status, dry_run: run, requested, requests }: Batch): Record<State, number> {
  const sum = (key: 'completed' | 'open' | 'failed') => requests.reduce((total, row) => total + row[key], 0)
  const rest = Math.max(0, run.orders - requested.orders)
  const isOver = status === 'finished'
  return {
    completed: sum('completed'),
    open: sum('open'),
    failed: sum('failed'),
    waiting: isOver ? 0 : rest,
    skipped: isOver ? rest : 0,
  }
}

interface Props {
  batch: Batch
  edition: string
}

/** A bar of the orders by state, with the amounts of each. */
export function BatchProgress({ batch, edition }: Props) {
  const counts = countStates(batch)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const states = (Object.keys(counts) as State[]).filter((state) => counts[state] > 0)
  const attention = batch.requests.reduce((sum, row) => sum + row.needs_attention, 0)
  const amounts: Partial<Record<State, string>> = {
    completed: formatAmounts(batch.requests.map((row) => ({ currency: row.currency, amount: row.completed_amount }))),
    open: formatAmounts(batch.requests.map((row) => ({ currency: row.currency, amount: row.open_amount }))),
    failed: formatAmounts(batch.requests.map((row) => ({ currency: row.currency, amount: row.failed_amount }))),
  }
  return (
    <Section title={t.progress} hint={`${formatCount(counts.completed)} / ${plural(total, t.ordersOf)}`}>
      <Stack gap="sm">
        <Progress.Root size="xl" aria-label={t.progress}>
          {states.map((state) => (
            <Progress.Section
              key={state}
              value={(counts[state] / total) * 100}
              color={colours[state]}
              aria-label={`${t.states[state]}: ${formatCount(counts[state])}`}
            />
          ))}
        </Progress.Root>
        <Group gap="lg">
          {states.map((state) => (
            <Text size="sm" key={state} component="div">
              <Text span c={colours[state]} aria-hidden>
                ●
              </Text>{' '}
              <StateName state={state} batch={batch} edition={edition} /> <b>{formatCount(counts[state])}</b>
              {amounts[state] && ` · ${amounts[state]}`}
            </Text>
          ))}
        </Group>
        {attention > 0 && (
          <Alert color="red" variant="outline">
            {plural(attention, t.attention)}
          </Alert>
        )}
      </Stack>
    </Section>
  )
}

function StateName({ state, batch, edition }: Props & { state: State }) {
  const status = statuses[state]
  if (status === undefined) return t.states[state]
  const search = { status, refund_batch_id: batch.id }
  return (
    <Link className="link" to="/editions/$edition/refunds" params={{ edition }} search={search}>
      {t.states[state]}
    </Link>
  )
}

/** The refunds of the batch that failed, each with what the provider said. */
export function BatchFailures({ batch, edition }: Props) {
  const query = {
    edition_id: edition,
    refund_batch_id: batch.id,
    status: 'failed' as const,
    page_size: failuresShown,
    ordering: ['created' as const],
  }
  const failed = useQuery(get('/v1/refund-requests', { params: { query } }))
  const retry = useChange(async (refunds: readonly Refund[], headers) => {
    for (const { id } of refunds)
      await api.POST('/v1/refund-requests/{id}/retry', {
        params: { path: { id } },
        headers: { 'Idempotency-Key': `${headers['Idempotency-Key']}-${id}` },
      })
  })
  const rows = failed.data?.results ?? []
  return (
    <Section
      title={t.failuresTitle}
      hint={failed.data && plural(failed.data.count, t.count)}
      actions={
        rows.length > 0 && (
          <ActionButton
            operation="retryRefundRequest"
            size="xs"
            loading={retry.isPending}
            onClick={() => retry.mutate(rows)}
          >
            {plural(rows.length, t.retryShown)}
          </ActionButton>
        )
      }
    >
      <Stack gap="sm">
        {retry.error && <Refusal error={retry.error} />}
        <Loaded query={failed} heights={[100]}>
          {({ results }) =>
            results.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t.noFailures}
              </Text>
            ) : (
              <FailedRows refunds={results} edition={edition} />
            )
          }
        </Loaded>
      </Stack>
    </Section>
  )
}

function FailedRows({ refunds, edition }: { refunds: readonly Refund[]; edition: string }) {
  const texts: Readonly<Record<string, string>> = t.failures
  return (
    <ScrollTable label={t.failed} width={760}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.order}</Table.Th>
          <Table.Th>{words.common.customer}</Table.Th>
          <Table.Th ta="right">{words.common.amount}</Table.Th>
          <Table.Th>{t.failed}</Table.Th>
          <Table.Td />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {refunds.map((refund) => (
          <Table.Tr key={refund.id}>
            <Table.Td>
              <Link className="link" to="/editions/$edition/refunds/$refund" params={{ edition, refund: refund.id }}>
                {nameOrder(refund.order)}
              </Link>
            </Table.Td>
            <Table.Td>{refund.customer.full_name || refund.customer.email}</Table.Td>
            <Table.Td className="numbers">
              {formatMoney(refund.approved_amount ?? refund.requested_amount, refund.currency)}
            </Table.Td>
            <Table.Td>{texts[refund.failure_code ?? ''] ?? refund.failure_message ?? t.failureOther}</Table.Td>
            <Table.Td>
              <RefundActions refund={refund} size="xs" only={['retry']} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  )
}
