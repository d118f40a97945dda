import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { Box } from '@mantine/core'
import { formatCount, formatMoney, loadWords, locale, words } from '../../words'
import { type Currency, type DayOfSales, sumAll } from './sales'

const t = await loadWords('home')

interface Props {
  days: readonly DayOfSales[]
  currency: Currency
  measure: 'amount' | 'count'
}

/** A day of the edition is no instant, so it is written as if it were UTC. */
const formatDay = (day: string): string =>
  new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(day))

const formatShort = (amount: number): string => new Intl.NumberFormat(locale, { notation: 'compact' }).format(amount)

/** Bars of what was sold on each day. */
export default function SalesChart({ days, currency, measure }: Props) {
  const all = sumAll(days)
  const label = measure === 'amount' ? t.sales : words.common.entries.orders
  const text = `${t.salesByDay}: ${formatMoney(all.amount, currency)}, ${words.common.entries.orders} ${formatCount(all.count)}`
  return (
    <Box role="img" aria-label={text}>
      <BarChart
        h={220}
        data={days.map((day) => ({ ...day, day: formatDay(day.day) }))}
        dataKey="day"
        gridAxis="x"
        valueFormatter={(value) => (measure === 'amount' ? formatMoney(value, currency) : formatCount(value))}
        barProps={{ isAnimationActive: false }}
        barChartProps={{ accessibilityLayer: false }}
        xAxisProps={{ minTickGap: 24 }}
        yAxisProps={{ allowDecimals: false, width: 48, tickFormatter: formatShort }}
        series={[{ name: measure, label, color: 'indigo.5' }]}
      />
    </Box>
  )
}
