import { Progress, Table, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { get, type Schema } from '../../api'
import { useRefusalReason } from '../../caller'
import { Section } from '../../parts/section'
import { formatCount, formatPercent, loadWords, plural } from '../../words'
import { SegmentButton } from './segment-dialog'
import { type CampaignDetail, pollMs } from './types'

const t = await loadWords('campaigns')

type EngagementCode = keyof typeof t.engagements

interface Row {
  engagement: EngagementCode
  count: number
  rate: number
  colour: string
}

/** Counts openings, clicks and the like. Each leads to its people, and becomes a segment of exactly those. */
export function Engagement({ campaign, stats }: { campaign: CampaignDetail; stats: Schema['CampaignStats'] }) {
  const { channel } = campaign
  const { sent, delivered, machine_opened } = stats
  const [notOpened, notClicked] = useNegatives(campaign, sent > 0)
  if (sent === 0) return null
  const computeShare = (count: number, total: number) => (total === 0 ? 0 : count / total)
  const row = (engagement: EngagementCode, count: number | undefined, rate: number, colour: string): Row[] =>
    count === undefined ? [] : [{ engagement, count, rate, colour }]
  const rows = [
    ...row('delivered', delivered, stats.delivery_rate, 'teal.7'),
    ...(channel === 'email' ? row('opened', stats.opened, stats.open_rate, 'indigo.6') : []),
    ...(channel === 'email' ? row('not_opened', notOpened, computeShare(notOpened ?? 0, sent), 'gray.5') : []),
    ...row('clicked', stats.clicked, stats.click_rate, 'indigo.6'),
    ...row('not_clicked', notClicked, computeShare(notClicked ?? 0, sent), 'gray.5'),
    ...row('unsubscribed', stats.unsubscribed, stats.unsubscribe_rate, 'orange.7'),
    ...row('bounced', stats.bounced, computeShare(stats.bounced, sent), 'red.7'),
    ...(channel === 'email' ? row('complained', stats.complained, computeShare(stats.complained, sent), 'red.7') : []),
  ]
  return (
    <Section title={t.engagement} hint={machine_opened > 0 ? plural(machine_opened, t.machineOpened) : undefined}>
      <Table withRowBorders={false} verticalSpacing={2} horizontalSpacing={4}>
        <Table.Tbody>
          {rows.map((one) => (
            <EngagementRow key={one.engagement} row={one} campaign={campaign} />
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  )
}

/** The people who did not do something are counted by the list of recipients alone. */
function useNegatives(campaign: CampaignDetail, hasSent: boolean): (number | undefined)[] {
  const isAllowed = useRefusalReason('listCampaignRecipients') === null
  const results = useQueries({
    queries: (['not_opened', 'not_clicked'] as const).map((engagement) => ({
      ...get('/v1/campaigns/{id}/recipients', {
        params: { path: { id: campaign.id }, query: { engagement, page_size: 1 } },
      }),
      enabled: hasSent && isAllowed,
      refetchInterval: pollMs(campaign),
    })),
  })
  return results.map(({ data }) => data?.count)
}

function EngagementRow({ row: { engagement, count, rate, colour }, campaign }: { row: Row; campaign: CampaignDetail }) {
  const { edition = '' } = useParams({ strict: false })
  const label = t.engagements[engagement]
  return (
    <Table.Tr>
      <Table.Td w={{ base: undefined, sm: 150 }} h={34} className="nowrap">
        <Link
          className="link"
          to="/editions/$edition/campaigns/$campaign/recipients"
          params={{ edition, campaign: campaign.id }}
          search={{ engagement }}
        >
          {label}
        </Link>
        <Progress hiddenFrom="sm" value={100 * rate} color={colour} size="sm" radius="sm" aria-label={label} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Progress value={100 * rate} color={colour} size="md" radius="sm" aria-label={label} />
      </Table.Td>
      <Table.Td className="numbers" w={60} fw={600}>
        {formatCount(count)}
      </Table.Td>
      <Table.Td className="numbers" w={64}>
        <Text size="sm" c="dimmed">
          {formatPercent(rate)}
        </Text>
      </Table.Td>
      <Table.Td w={40}>
        {count > 0 && (
          <SegmentButton campaign={campaign} filter={{ engagement }} name={t.segmentNames[engagement]} isIcon />
        )}
      </Table.Td>
    </Table.Tr>
  )
}
