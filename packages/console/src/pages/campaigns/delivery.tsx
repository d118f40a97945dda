import { Group, Loader, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { Schema } from '../../api'
import { Section } from '../../parts/section'
import { StateBar } from '../../parts/state-bar'
import { formatCount, formatDuration, loadWords, plural } from '../../words'
import { addSample, computeRate, computeTimeLeft, type Sample } from './rate'
import type { CampaignDetail } from './types'

const t = await loadWords('campaigns')

interface Props {
  campaign: CampaignDetail
  stats: Schema['CampaignStats']
}

/** Counts the recipients by state. The parts add up to the total. */
export function Delivery({ campaign, stats }: Props) {
  const { edition = '' } = useParams({ strict: false })
  const { status } = campaign
  const { total_recipients: total, sent, failed, pending, cancelled } = stats
  if (status === 'calculating')
    return (
      <Section title={t.delivery}>
        <Group gap="xs">
          <Loader size="sm" aria-hidden />
          <Text>{t.calculatingHint}</Text>
        </Group>
      </Section>
    )
  const link = (state: Schema['CampaignRecipient']['state']) => ({
    to: '/editions/$edition/campaigns/$campaign/recipients' as const,
    params: { edition, campaign: campaign.id },
    search: { state },
  })
  const parts = [
    { key: 'sent', label: t.states.sent, count: sent, colour: 'teal.7', link: link('sent') },
    { key: 'pending', label: t.states.pending, count: pending, colour: 'gray.5', link: link('pending') },
    { key: 'failed', label: t.states.failed, count: failed, colour: 'red.7', link: link('failed') },
    { key: 'cancelled', label: t.states.cancelled, count: cancelled, colour: 'orange.7', link: link('cancelled') },
  ].filter(({ key, count }) => count > 0 || key === 'sent' || key === 'failed')
  return (
    <Section title={t.delivery}>
      <Group gap={8} align="baseline" mb="xs">
        <Text fz={30} fw={700} lh={1.1} component="span" className="nowrap">
          {formatCount(sent)}
        </Text>
        <Text component="span">{t.ofRecipients.replace('#', () => formatCount(total))}</Text>
        <Text component="span" size="sm" c="dimmed" ml="auto">
          {status === 'sending' ? <Speed campaign={campaign} stats={stats} /> : <Took campaign={campaign} />}
        </Text>
      </Group>
      <StateBar parts={parts} total={total} totalLabel={plural(total, t.recipientCount)} />
    </Section>
  )
}

/** Shows the rate of sending, and the time until all messages are out. */
function Speed({ campaign, stats: { sent, failed, pending } }: Props) {
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const done = sent + failed
  useEffect(() => {
    const add = () => setSamples((current) => addSample(current, { at: Date.now(), sent: done }))
    add()
    const timer = setInterval(add, 1000)
    return () => clearInterval(timer)
  }, [done])
  if (campaign.is_paused) return <>{t.paused}</>
  const rate = computeRate(samples)
  const timeLeft = computeTimeLeft(pending, rate)
  if (rate === null) return <>{t.measuring}</>
  const speed = t.perSecond.replace('#', () => formatCount(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate)))
  return (
    <>{timeLeft === null ? t.nothingMoves : `${speed} · ${t.timeLeft.replace('#', () => formatDuration(timeLeft))}`}</>
  )
}

function Took({ campaign: { started_at, completed_at } }: { campaign: CampaignDetail }) {
  if (started_at === null || completed_at === null) return null
  const seconds = Math.max(1, Math.round((new Date(completed_at).getTime() - new Date(started_at).getTime()) / 1000))
  return <>{t.took.replace('#', () => formatDuration(seconds))}</>
}
