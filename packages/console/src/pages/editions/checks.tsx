import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { get, type Schema } from '../../api'
import { findCheckLink } from '../../parts/check-link'
import { Loaded } from '../../parts/loaded'
import { Section } from '../../parts/section'
import { Status, type Tone } from '../../parts/status'
import { plural, words } from '../../words'

const t = words.editionSettings

type Check = Schema['EditionHealthCheck']
type Severity = Check['severity']

const tones: Record<Severity, Tone> = { critical: 'bad', warning: 'act', info: 'none' }
const severities = Object.keys(tones) as Severity[]

export const healthOf = (edition: string) =>
  get('/v1/editions/{edition_id}/healthcheck', { params: { path: { edition_id: edition } } })

/** What is not in order with the edition. Each entry leads to the field or the page that mends it. */
export function Checks({ edition }: { edition: Schema['EditionDetail'] }) {
  const health = useQuery(healthOf(edition.id))
  return (
    <Section title={t.checks}>
      <Loaded query={health} heights={[24, 60, 60, 60]}>
        {({ checks, summary }) => {
          const failed = checks.filter(({ passed }) => !passed)
          if (failed.length === 0) return <Status tone="good" label={t.allPassed} />
          return (
            <Stack gap="md">
              <Group gap="xs">
                {severities.map(
                  (severity) =>
                    summary[severity] > 0 && (
                      <Status
                        key={severity}
                        tone={tones[severity]}
                        label={plural(summary[severity], t.checkCounts[severity])}
                      />
                    ),
                )}
              </Group>
              {severities.flatMap((severity) =>
                failed
                  .filter((check) => check.severity === severity)
                  .map((check) => <FailedCheck key={check.check_id} check={check} edition={edition} />),
              )}
            </Stack>
          )
        }}
      </Loaded>
    </Section>
  )
}

const maxObjects = 5

function FailedCheck({ check, edition }: { check: Check; edition: Schema['EditionDetail'] }) {
  const place = { edition: edition.id, organization: edition.organization.id }
  const objects = check.related_objects.slice(0, maxObjects)
  return (
    <Stack gap={2}>
      <Group gap="xs" wrap="nowrap" align="start">
        <Status tone={tones[check.severity]} label={t.severities[check.severity]} />
      </Group>
      <Text size="sm" fw={500}>
        {check.message}
      </Text>
      <Text size="sm" c="dimmed">
        {check.suggestion}
      </Text>
      <Group gap="sm">
        {objects.map((object) => {
          const link = findCheckLink(check, object, place)
          if (!link) return null
          return (
            <Text key={object.id} size="sm" component="span">
              <Link className="link" {...link}>
                {object.id === edition.id ? t.fix : object.name}
              </Link>
            </Text>
          )
        })}
        {check.related_objects.length > maxObjects && <Text size="sm">…</Text>}
      </Group>
    </Stack>
  )
}
