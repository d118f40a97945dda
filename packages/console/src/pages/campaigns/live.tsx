import { Alert, Grid, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconClockPause } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { get } from '../../api'
import { Refusal } from '../../parts/refusal'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { formatAge, loadWords } from '../../words'
import { Delivery } from './delivery'
import { Engagement } from './engagement'
import { Failures, LeftOut } from './failures'
import { Links } from './links'
import { MessagePreview } from './message-preview'
import { PlanPanel } from './plan'
import { Sent } from './sent'
import { usePlan } from './steps'
import { Timeline } from './timeline'
import { type CampaignDetail, isStartable, pollMs } from './types'

const t = await loadWords('campaigns')

/** Shows a campaign that was started, by the second while it runs. */
export function Live({ campaign }: { campaign: CampaignDetail }) {
  const { id, status, started_at } = campaign
  const hasRun = started_at !== null || campaign.total_recipients > 0
  const stats = useQuery({
    ...get('/v1/campaigns/{id}/stats', { params: { path: { id } } }),
    enabled: hasRun,
    refetchInterval: pollMs(campaign),
  })
  const plan = usePlan(id, isStartable(status))
  return (
    <Stack>
      <Notices campaign={campaign} />
      {stats.error && <Refusal error={stats.error} retry={stats.refetch} />}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            {!hasRun && <Waiting campaign={campaign} />}
            {!hasRun && campaign.channel === 'email' && campaign.email_message_id !== null && (
              <Section title={t.message}>
                <MessagePreview id={campaign.email_message_id} />
              </Section>
            )}
            {stats.data && (
              <>
                <Delivery campaign={campaign} stats={stats.data} />
                <Failures campaign={campaign} />
                <Engagement campaign={campaign} stats={stats.data} />
                <Timeline campaign={campaign} />
                <Links campaign={campaign} />
              </>
            )}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            {isStartable(status) && <PlanPanel campaign={campaign} plan={plan} />}
            {hasRun && <LeftOut campaign={campaign} />}
            <Sent campaign={campaign} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

/** Says why the campaign does not go on. */
function Notices({ campaign }: { campaign: CampaignDetail }) {
  const { error_message, is_paused, waiting_reason, waiting_since, next_attempt_at, approval, status } = campaign
  return (
    <>
      {error_message !== '' && (
        <Alert color="red" variant="outline" icon={<IconAlertTriangle aria-hidden />} title={t.stopped} role="alert">
          <Text size="sm" className="break">
            {error_message}
          </Text>
        </Alert>
      )}
      {(is_paused || waiting_reason !== null) && (
        <Alert
          color="yellow"
          variant="outline"
          icon={<IconClockPause aria-hidden />}
          title={is_paused ? t.pausedTitle : t.waits}
        >
          <Text size="sm" className="break">
            {is_paused ? t.pausedHint : waiting_reason}
            {waiting_since !== null && ` · ${t.since} ${formatAge(waiting_since)}`}
            {next_attempt_at !== null && (
              <>
                {' '}
                · {t.nextAttempt} <Time at={next_attempt_at} />
              </>
            )}
          </Text>
        </Alert>
      )}
      {status === 'scheduled' && approval !== null && approval.status !== 'approved' && (
        <Alert color="yellow" variant="outline" title={t.notApproved}>
          <Text size="sm">{t.notApprovedHint}</Text>
        </Alert>
      )}
    </>
  )
}

/** A campaign that has not begun. */
function Waiting({ campaign: { status, scheduled_at, send_window } }: { campaign: CampaignDetail }) {
  return (
    <Section title={t.start}>
      {scheduled_at === null ? (
        <Text size="sm">{status === 'draft' ? t.draftHint : t.neverStarted}</Text>
      ) : (
        <>
          <Text fz={26} fw={700} lh={1.2}>
            {status === 'scheduled' ? formatAge(scheduled_at) : t.statuses[status]}
          </Text>
          <Text size="sm" c="dimmed">
            <Time at={scheduled_at} />
            {send_window !== null && ` · ${t.windowed}`}
          </Text>
        </>
      )}
    </Section>
  )
}
