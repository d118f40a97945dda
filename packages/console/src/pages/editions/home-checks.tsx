import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { get, type Schema } from '../../api'
import { useCaller } from '../../caller'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural, words } from '../../words'
import { CheckRow, type Place } from './check-row'
import { getHealth } from './checks'

const t = await loadWords('home')

type Check = Schema['EditionHealthCheck']

/** Checks about what happens now. All others are about the settings. */
const operational = new Set([
  'payments.merchant_ready',
  'payments.refunds_settled',
  'payments.refunds_proceed',
  'payments.refund_batches_proceed',
  'fulfilment.passes_updated',
  'communication.email_provider',
  'communication.sms_provider',
  'communication.email_accepted',
  'communication.sms_accepted',
  'integrations.webhooks_healthy',
  'integrations.webhooks_answer',
  'integrations.webhooks_inactive',
  'imports.unfinished',
])

const severities = ['critical', 'warning', 'info'] as const

/** The failed checks, the worst first. */
function listFailed(checks: readonly Check[], isOperational: boolean): Check[] {
  const failed = checks.filter(({ passed, check_id }) => !passed && operational.has(check_id) === isOperational)
  return severities.flatMap((severity) => failed.filter((check) => check.severity === severity))
}

/** Lists the faults of now: providers that refuse, endpoints that fail, refunds that do not proceed. */
export function Faults({ place }: { place: Place }) {
  const { data } = useQuery(getHealth(place.edition))
  const faults = listFailed(data?.checks ?? [], true)
  if (faults.length === 0) return null
  return (
    <Alert color="red" variant="outline" title={t.faults}>
      <Stack gap="xs">
        {faults.map((check) => (
          <CheckRow key={check.check_id} check={check} place={place} />
        ))}
      </Stack>
    </Alert>
  )
}

/** Lists the faults of the whole service, for its superuser. */
export function ServiceFaults() {
  const isSuperuser = useCaller()?.is_superuser ?? false
  const status = useQuery({ ...get('/v1/system/status'), enabled: isSuperuser })
  if (!status.data) return null
  const { dead_messages, sweeps } = status.data
  // Endpoints and merchant accounts belong to an edition, whose checks name them.
  const failing_services = status.data.failing_services.filter(
    ({ service }) => service !== 'webhook' && service !== 'payments',
  )
  const dead = dead_messages.reduce((sum, { count }) => sum + count, 0)
  const late = sweeps.filter(({ failing_since }) => failing_since !== null).length
  if (failing_services.length + dead + late === 0) return null
  return (
    <Alert color="red" variant="outline" title={t.serviceFaults}>
      <Stack gap="xs">
        <List size="sm">
          {failing_services.map(({ service, count, reason, waiting_since }) => (
            <List.Item key={service}>
              {t.services[service]}
              {count > 1 && ` (${formatCount(count)})`}: {reason} <Time at={waiting_since} age />
            </List.Item>
          ))}
          {dead > 0 && <List.Item>{plural(dead, t.deadMessages)}</List.Item>}
          {late > 0 && <List.Item>{plural(late, t.failedSweeps)}</List.Item>}
        </List>
        <Text size="sm">
          <Link className="link" to="/system">
            {words.common.entries.system}
          </Link>
        </Text>
      </Stack>
    </Alert>
  )
}

/** The settings that are missing or wrong. Hints show when they are asked for. */
export function SetupChecks({ place }: { place: Place }) {
  const health = useQuery(getHealth(place.edition))
  const [withHints, setWithHints] = useState(false)
  if (!health.data) return null
  const failed = listFailed(health.data.checks, false)
  const hints = failed.filter(({ severity }) => severity === 'info')
  const visibleChecks = withHints ? failed : failed.filter(({ severity }) => severity !== 'info')
  if (failed.length === 0) return null
  return (
    <Section title={t.setup} hint={health.data.can_publish ? undefined : t.cannotPublish}>
      <Stack gap="sm">
        {visibleChecks.map((check) => (
          <CheckRow key={check.check_id} check={check} place={place} />
        ))}
        {hints.length > 0 && !withHints && (
          <Group>
            <Button variant="subtle" size="compact-sm" onClick={() => setWithHints(true)}>
              {plural(hints.length, t.showHints)}
            </Button>
          </Group>
        )}
      </Stack>
    </Section>
  )
}
