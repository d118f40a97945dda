import { Button, Group, Progress, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { get, type Schema } from '../../api'
import { toDay } from '../../parts/days'
import { Loaded } from '../../parts/loaded'
import { type Figure, Numbers } from '../../parts/numbers'
import { Section } from '../../parts/section'
import { formatCount, formatMoney, loadWords, plural, words } from '../../words'
import { buildDays, listCurrencies, listDays, sumProducts, sumSales } from './sales'

const Chart = lazy(() => import('./sales-chart'))
const t = await loadWords('home')

type Edition = Schema['EditionDetail']
type Stats = Schema['EditionStats']

const dayCount = 30

const readToday = (zone: string): string => toDay(new Date().toISOString(), zone)

function useStats(edition: string, query: { from?: string; group_by: ('day' | 'product' | 'status')[] }) {
  return useQuery(get('/v1/editions/{id}/stats', { params: { path: { id: edition }, query } }))
}

function useLastDays({ id, timezone }: Edition) {
  const days = listDays(readToday(timezone), dayCount)
  const stats = useStats(id, { from: days[0], group_by: ['day', 'status'] })
  return { days, stats }
}

/** Sales, orders, tickets and customers: all, of today and of seven days. */
export function SalesNumbers({ edition }: { edition: Edition }) {
  const totals = useStats(edition.id, { group_by: ['status'] })
  const { days, stats } = useLastDays(edition)
  const customers = useQuery(get('/v1/user', { params: { query: { edition_id: edition.id } } }))
  const used = useQuery(
    get('/v1/purchases', { params: { query: { edition_id: edition.id, is_used: true, page_size: 1 } } }),
  )
  return (
    <Loaded query={totals} heights={[86]}>
      {(all) => (
        <Numbers
          figures={[
            ...listSales(edition, all, stats.data, days),
            {
              label: words.common.tickets,
              value: formatCount(sumProductless(all)),
              hint: used.data && `${t.used} ${formatCount(used.data.count)}`,
            },
            {
              label: words.common.entries.customers,
              value: customers.data ? formatCount(customers.data.count) : '…',
              hint: (
                <Link className="link" to="/editions/$edition/customers" params={{ edition: edition.id }}>
                  {t.showAll}
                </Link>
              ),
            },
          ]}
        />
      )}
    </Loaded>
  )
}

const sumProductless = ({ purchases }: Stats): number =>
  purchases
    .filter(({ status }) => status === 'active' || status === 'used' || status === 'expired')
    .reduce((sum, { count }) => sum + count, 0)

/** The sales in each currency, and the orders. Amounts of different currencies are never added. */
function listSales(edition: Edition, all: Stats, recent: Stats | undefined, days: readonly string[]): Figure[] {
  const currencies = listCurrencies(all.orders)
  const listedCurrencies = currencies.length === 0 ? [edition.currency] : currencies
  const [today, week] = [days.at(-1), days.at(-7)]
  const explain = (write: (from: string | undefined) => string) =>
    recent && `${t.today} ${write(today)} · ${t.week} ${write(week)}`
  const countOrders = (from: string | undefined) =>
    listedCurrencies.reduce((sum, currency) => sum + sumSales(recent?.orders ?? [], currency, from).count, 0)
  return [
    ...listedCurrencies.map((currency) => ({
      label: listedCurrencies.length === 1 ? t.sales : `${t.sales} (${currency.toUpperCase()})`,
      value: formatMoney(sumSales(all.orders, currency).amount, currency),
      hint: explain((from) => formatMoney(sumSales(recent?.orders ?? [], currency, from).amount, currency)),
    })),
    {
      label: words.common.entries.orders,
      value: formatCount(listedCurrencies.reduce((sum, currency) => sum + sumSales(all.orders, currency).count, 0)),
      hint: explain((from) => formatCount(countOrders(from))),
    },
  ]
}

/** A chart of the last days. It loads after the numbers. */
export function SalesByDay({ edition }: { edition: Edition }) {
  const { days, stats } = useLastDays(edition)
  const [choice, setChoice] = useState<string>()
  const currencies = listCurrencies(stats.data?.orders ?? [])
  const options = [
    ...currencies.map((currency) => ({ value: currency, label: `${t.sales} (${currency.toUpperCase()})` })),
    { value: 'count', label: words.common.entries.orders },
  ]
  const measure = options.find(({ value }) => value === choice)?.value ?? options[0]?.value ?? 'count'
  const currency = currencies.find((one) => one === measure) ?? currencies[0]
  return (
    <Section
      title={t.salesByDay}
      hint={t.lastDays}
      actions={
        currencies.length > 0 && (
          <SegmentedControl size="xs" aria-label={t.salesByDay} data={options} value={measure} onChange={setChoice} />
        )
      }
    >
      <Loaded query={stats} heights={[220]}>
        {({ orders }) =>
          currency === undefined ? (
            <Text size="sm" c="dimmed">
              {t.noSales}
            </Text>
          ) : (
            <Suspense fallback={<Skeleton h={220} />}>
              <Chart
                days={buildDays(orders, currency, days)}
                currency={currency}
                measure={measure === 'count' ? 'count' : 'amount'}
              />
            </Suspense>
          )
        }
      </Loaded>
    </Section>
  )
}

const shownProducts = 10

/** Plain bars of the tickets that were sold, by product. */
export function SalesByProduct({ edition }: { edition: Edition }) {
  const stats = useStats(edition.id, { group_by: ['product', 'status'] })
  const [isWhole, setWhole] = useState(false)
  return (
    <Section title={t.salesByProduct} hint={t.salesByProductHint}>
      <Loaded query={stats} heights={[200]}>
        {({ purchases }) => {
          const products = sumProducts(purchases)
          const most = products[0]?.count ?? 1
          if (products.length === 0)
            return (
              <Text size="sm" c="dimmed">
                {t.noTickets}
              </Text>
            )
          return (
            <Stack gap="xs">
              {(isWhole ? products : products.slice(0, shownProducts)).map(({ id, name, count, amounts }) => (
                <div key={id}>
                  <Group justify="space-between" gap="xs" wrap="nowrap">
                    <Text size="sm" component="span" className="break">
                      <Link
                        className="link"
                        to="/editions/$edition/orders"
                        params={{ edition: edition.id }}
                        search={{ product_id: id }}
                      >
                        {name}
                      </Link>
                    </Text>
                    <Text size="sm" className="numbers">
                      <b>{formatCount(count)}</b>
                      {[...amounts].map(([currency, amount]) => ` · ${formatMoney(amount, currency)}`)}
                    </Text>
                  </Group>
                  <Progress value={(100 * count) / most} size="sm" color="indigo.5" aria-hidden />
                </div>
              ))}
              {products.length > shownProducts && !isWhole && (
                <Button variant="subtle" size="compact-sm" onClick={() => setWhole(true)}>
                  {plural(products.length, t.showProducts)}
                </Button>
              )}
            </Stack>
          )
        }}
      </Loaded>
    </Section>
  )
}
