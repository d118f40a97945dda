import { Alert, Loader, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { get, type Schema } from '../../api'
import { AccountName } from '../../parts/account-name'
import { Facts } from '../../parts/facts'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { Numbers } from '../../parts/numbers'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { formatCount, formatPercent, loadWords, words } from '../../words'
import { BatchActions } from './batch-actions'
import { BatchFailures, BatchProgress } from './batch-progress'
import { BatchStatus, BatchSteps } from './batch-status'
import { formatAmounts } from './money'

type Batch = Schema['RefundBatch']

const route = getRouteApi('/shell/editions/$edition/refund-batches/$batch')
const t = await loadWords('refunds')

const isAtWork = ({ status, requests }: Batch): boolean =>
  status === 'counting' || status === 'running' || requests.some(({ open }) => open > 0)

export function RefundBatch() {
  const { edition, batch: id } = route.useParams()
  const batch = useQuery({
    ...get('/v1/refund-batches/{id}', { params: { path: { id } } }),
    refetchInterval: ({ state }) => (state.data && isAtWork(state.data.data) ? 2000 : false),
  })
  return (
    <Loaded query={batch}>
      {(data) => (
        <Stack>
          <Heading
            title={`${t.batchOne}: ${words.states.refundReasons[data.reason]}`}
            mark={<BatchStatus status={data.status} />}
            facts={
              <>
                <Time at={data.created} /> · <AccountName id={data.created_by} isOwn={data.is_own} />
              </>
            }
            back={{ link: { to: '/editions/$edition/refund-batches', params: { edition } }, label: t.batches }}
            actions={<BatchActions batch={data} />}
          />
          <BatchSteps status={data.status} />
          {data.status === 'counting' && (
            <Alert color="blue" variant="outline" icon={<Loader size="xs" />} role="status">
              {t.counting}
            </Alert>
          )}
          {data.status === 'draft' && data.dry_run.orders === 0 && (
            <Alert color="yellow" variant="outline">
              {t.nothingFits}
            </Alert>
          )}
          <DryRun batch={data} />
          {data.started_at !== null && <BatchProgress batch={data} edition={edition} />}
          {data.requests.some(({ failed }) => failed > 0) && <BatchFailures batch={data} edition={edition} />}
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <LeftOut batch={data} />
            <Choice batch={data} edition={edition} />
          </SimpleGrid>
        </Stack>
      )}
    </Loaded>
  )
}

const DryRun = ({ batch: { dry_run: run } }: { batch: Batch }) => (
  <Numbers
    figures={[
      { label: t.sum, value: formatAmounts(run.amounts) },
      { label: t.orders, value: formatCount(run.orders) },
      { label: t.ticketCount, value: formatCount(run.purchases) },
      { label: t.customers, value: formatCount(run.customers) },
    ]}
  />
)

function LeftOut({ batch: { dry_run, requested } }: { batch: Batch }) {
  const { left_out: rows } = requested.left_out.length > 0 ? requested : dry_run
  return (
    <Section title={t.leftOut} hint={rows.length > 0 ? t.leftOutHint : undefined}>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t.leftOutNone}
        </Text>
      ) : (
        <Facts facts={rows.map(({ reason, purchases }) => [t.leftOutReasons[reason], formatCount(purchases)])} />
      )}
    </Section>
  )
}

function Choice({ batch, edition }: { batch: Batch; edition: string }) {
  const { filter } = batch
  const { product_id: product, location_id: location } = filter
  const productQuery = useQuery({
    ...get('/v1/products/{id}', { params: { path: { id: product ?? '' } } }),
    enabled: product !== null,
  })
  const locationQuery = useQuery({
    ...get('/v1/locations/{id}', { params: { path: { id: location ?? '' } } }),
    enabled: location !== null,
  })
  const variant = productQuery.data?.variants.find(({ id }) => id === filter.variant_id)
  const yesNo = (is: boolean) => words.common[is ? 'yes' : 'no']
  const isWhole = Object.values(filter).every((value) => value === null)
  return (
    <Section title={t.choice}>
      <Facts
        facts={[
          [t.which, isWhole && t.allTickets],
          [t.product, product && (productQuery.data?.name ?? product)],
          [t.variant, filter.variant_id && (variant?.name ?? filter.variant_id)],
          [t.location, location && (locationQuery.data?.name ?? location)],
          [t.ticketStatus, filter.status && words.states.purchase[filter.status]],
          [t.uses, filter.uses && t.useChoices[filter.uses]],
          [t.boughtAfter, filter.created_after && <Time key="after" at={filter.created_after} />],
          [t.boughtBefore, filter.created_before && <Time key="before" at={filter.created_before} />],
          [t.howMuch, batch.percent === null ? t.full : formatPercent(batch.percent / 100)],
          [t.includesFees, yesNo(batch.include_fees)],
          [t.cancelsTicket, yesNo(batch.cancel_purchases)],
          [t.notifies, yesNo(batch.notify_customers)],
          [t.message, batch.message],
          [t.startedBy, batch.started_by && <AccountName key="by" id={batch.started_by} />],
          [t.start, batch.started_at && <Time key="started" at={batch.started_at} />],
          [t.ended, batch.ended_at && <Time key="ended" at={batch.ended_at} />],
        ].map(([label, value]) => [label as string, value === false ? null : value] as const)}
      />
      {batch.started_at !== null && (
        <Link
          className="link"
          to="/editions/$edition/refunds"
          params={{ edition }}
          search={{ refund_batch_id: batch.id }}
        >
          {t.allOfBatch}
        </Link>
      )}
    </Section>
  )
}
