import { Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { get, type Schema } from '../../api'
import { Loaded } from '../../parts/loaded'
import { Section } from '../../parts/section'
import { Status, type Tone } from '../../parts/status'
import { loadWords, plural } from '../../words'
import { CheckRow } from './check-row'

const t = await loadWords('editionSettings')

type Check = Schema['EditionHealthCheck']
type Severity = Check['severity']

const tones: Record<Severity, Tone> = { critical: 'bad', warning: 'act', info: 'none' }
const severities = Object.keys(tones) as Severity[]

export const getHealth = (edition: string) =>
  get('/v1/editions/{edition_id}/healthcheck', { params: { path: { edition_id: edition } } })

/** Lists the faults of the edition's setup. Each entry leads to the field or the page that mends it. */
export function Checks({ edition }: { edition: Schema['EditionDetail'] }) {
  const health = useQuery(getHealth(edition.id))
  const place = { edition: edition.id, organization: edition.organization.id }
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
                  .map((check) => <CheckRow key={check.check_id} check={check} place={place} />),
              )}
            </Stack>
          )
        }}
      </Loaded>
    </Section>
  )
}
