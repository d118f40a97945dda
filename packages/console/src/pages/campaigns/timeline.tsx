import { SegmentedControl, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { get } from '../../api'
import { Refusal } from '../../parts/refusal'
import { Section } from '../../parts/section'
import { loadWords } from '../../words'
import { fillBuckets, type Interval } from './buckets'
import { type CampaignDetail, isRunning } from './types'

const t = await loadWords('campaigns')
const Chart = lazy(() => import('./timeline-chart'))

const hourMs = 3_600_000
/** The span of time that each interval shows, so that no chart has too many points. */
const spans: Record<Interval, number> = { minute: 2 * hourMs, hour: 7 * 24 * hourMs, day: 365 * 24 * hourMs }

const atMinute = (at: number): string => new Date(Math.floor(at / 60_000) * 60_000).toISOString()

/** Minutes show the last two hours of a running campaign, and the first two of another one. */
function findRange({ started_at, status }: CampaignDetail, interval: Interval): { from: string; to?: string } {
  const start = new Date(started_at ?? 0).getTime()
  const span = spans[interval]
  if (isRunning(status)) return { from: atMinute(Math.max(start, Date.now() - span)) }
  return { from: atMinute(start), to: atMinute(start + span) }
}

/** Messages, opens and clicks by time. */
export function Timeline({ campaign }: { campaign: CampaignDetail }) {
  const [interval, setInterval] = useState<Interval>('minute')
  const { id, status, started_at } = campaign
  const query = { interval, ...findRange(campaign, interval) }
  const timeline = useQuery({
    ...get('/v1/campaigns/{id}/timeline', { params: { path: { id }, query } }),
    enabled: started_at !== null,
    refetchInterval: isRunning(status) ? 5000 : 30_000,
    placeholderData: (last) => last,
  })
  if (started_at === null) return null
  return (
    <Section
      title={t.timeline}
      hint={isRunning(status) ? t.lastSpans[interval] : t.firstSpans[interval]}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t.interval}
          value={interval}
          onChange={setInterval}
          data={Object.entries(t.intervals).map(([value, label]) => ({ value: value as Interval, label }))}
        />
      }
    >
      {timeline.error && <Refusal error={timeline.error} retry={timeline.refetch} />}
      {!timeline.data && !timeline.error && <Skeleton h={220} />}
      {timeline.data?.buckets.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.nothingHappened}
        </Text>
      )}
      {timeline.data && timeline.data.buckets.length > 0 && (
        <Suspense fallback={<Skeleton h={220} />}>
          <Chart
            points={fillBuckets(timeline.data.buckets, timeline.data.interval, timeline.data.timezone)}
            interval={timeline.data.interval}
          />
        </Suspense>
      )}
    </Section>
  )
}
