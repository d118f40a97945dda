import '@mantine/charts/styles.css'
import { LineChart } from '@mantine/charts'
import { Box } from '@mantine/core'
import { formatCount, loadWords, locale } from '../../words'
import type { Interval, Point } from './buckets'

const t = await loadWords('campaigns')

const formats: Record<Interval, Intl.DateTimeFormatOptions> = {
  minute: { hour: '2-digit', minute: '2-digit' },
  hour: { weekday: 'short', hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
}

/** `start` is local time already, so it is written as if it were UTC. */
function formatStart(start: string, interval: Interval): string {
  const instant = `${start}${interval === 'day' ? 'T00:00' : interval === 'hour' ? ':00' : ''}Z`
  return new Intl.DateTimeFormat(locale, { ...formats[interval], timeZone: 'UTC' }).format(new Date(instant))
}

/** Lines of what happened in each minute, hour or day. */
export default function TimelineChart({ points, interval }: { points: readonly Point[]; interval: Interval }) {
  const sum = (key: 'sent' | 'opened' | 'clicked') => formatCount(points.reduce((all, point) => all + point[key], 0))
  const text = `${t.states.sent} ${sum('sent')}, ${t.engagements.opened} ${sum('opened')}, ${t.engagements.clicked} ${sum('clicked')}`
  return (
    <Box role="img" aria-label={text}>
      <LineChart
        h={220}
        data={points.map((point) => ({ ...point, start: formatStart(point.start, interval) }))}
        dataKey="start"
        withLegend
        curveType="linear"
        strokeWidth={2}
        dotProps={{ r: 2 }}
        gridAxis="x"
        valueFormatter={formatCount}
        lineProps={{ isAnimationActive: false }}
        lineChartProps={{ accessibilityLayer: false }}
        xAxisProps={{ minTickGap: 40 }}
        yAxisProps={{ allowDecimals: false, width: 44 }}
        series={[
          { name: 'sent', label: t.states.sent, color: 'teal.6' },
          { name: 'opened', label: t.engagements.opened, color: 'indigo.5' },
          { name: 'clicked', label: t.engagements.clicked, color: 'orange.6' },
        ]}
      />
    </Box>
  )
}
