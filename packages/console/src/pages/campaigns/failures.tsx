import { Group, Stack, Table, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { get } from '../../api'
import { useRefusalReason } from '../../caller'
import { Section } from '../../parts/section'
import { formatCount, loadWords, plural } from '../../words'
import { RetryButton } from './actions'
import { countRetryable } from './allowed'
import { SegmentButton } from './segment-dialog'
import { type CampaignDetail, type FailReason, isRunning, type Reason } from './types'

const t = await loadWords('campaigns')

/** Lists the reasons of failures, and tries these people again. */
export function Failures({ campaign }: { campaign: CampaignDetail }) {
  const { edition = '' } = useParams({ strict: false })
  const reasons = (Object.entries(campaign.failed_by_reason) as [FailReason, number][]).filter(([, count]) => count > 0)
  const canRetry = !isRunning(campaign.status) && countRetryable(campaign) > 0 && campaign.status !== 'cancelled'
  if (reasons.length === 0 && !canRetry) return null
  return (
    <Section
      title={t.failures}
      hint={reasons.length === 0 ? t.restHint : undefined}
      actions={<RetryButton campaign={campaign} />}
    >
      <Stack gap="xs">
        {reasons.map(([reason, count]) => (
          <Group key={reason} justify="space-between" wrap="nowrap" align="start">
            <div>
              <Link
                className="link"
                to="/editions/$edition/campaigns/$campaign/recipients"
                params={{ edition, campaign: campaign.id }}
                search={{ state: 'failed', reason }}
              >
                {t.reasons[reason]}
              </Link>
              <Text size="sm" c="dimmed">
                {t.failHints[reason]}
              </Text>
            </div>
            <Group gap={4} wrap="nowrap">
              <Text fw={700} c="var(--mantine-color-error)" className="numbers">
                {formatCount(count)}
              </Text>
              <SegmentButton campaign={campaign} filter={{ state: 'failed', reason }} name={t.reasons[reason]} isIcon />
            </Group>
          </Group>
        ))}
      </Stack>
    </Section>
  )
}

const skipReasons = [
  'no_address',
  'no_consent',
  'unsubscribed',
  'bounced',
  'inactive',
  'duplicate_address',
] as const satisfies readonly Reason[]

/** The people of the segment who are no recipients, by reason. */
export function LeftOut({ campaign }: { campaign: CampaignDetail }) {
  const { edition = '' } = useParams({ strict: false })
  const { id, skipped_count, total_recipients, status } = campaign
  const isAllowed = useRefusalReason('listCampaignRecipients') === null
  const counts = useQueries({
    queries: skipReasons.map((reason) => ({
      ...get('/v1/campaigns/{id}/recipients', {
        params: { path: { id }, query: { state: 'skipped' as const, reason, page_size: 1 } },
      }),
      enabled: isAllowed && skipped_count > 0 && status !== 'calculating',
      staleTime: 60_000,
    })),
  })
  if (status === 'calculating' || skipped_count === 0) return null
  const rows = skipReasons.flatMap((reason, index) => {
    const count = counts[index]?.data?.count ?? 0
    return count > 0 ? [{ reason, count }] : []
  })
  const link = (reason?: Reason) => ({
    to: '/editions/$edition/campaigns/$campaign/recipients' as const,
    params: { edition, campaign: id },
    search: { state: 'skipped' as const, reason },
  })
  return (
    <Section
      title={t.leftOut}
      hint={t.leftOutOf.replace('#', () => formatCount(total_recipients + skipped_count))}
      actions={<SegmentButton campaign={campaign} filter={{ state: 'skipped' }} name={t.segmentNames.skipped} />}
    >
      <Table withRowBorders={false} verticalSpacing={2} horizontalSpacing={0}>
        <Table.Tbody>
          {rows.map(({ reason, count }) => (
            <Table.Tr key={reason}>
              <Table.Td>
                <Link className="link" {...link(reason)}>
                  {t.reasons[reason]}
                </Link>
              </Table.Td>
              <Table.Td className="numbers">{formatCount(count)}</Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Td>
              <Link className="link" {...link()}>
                {t.together}
              </Link>
            </Table.Td>
            <Table.Td className="numbers" fw={700}>
              {plural(skipped_count, t.people)}
            </Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </Section>
  )
}
