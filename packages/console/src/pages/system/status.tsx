import { Button, Paper, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { get, type Schema } from '../../api'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { ScrollTable } from '../../parts/scroll-table'
import { Section } from '../../parts/section'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { fill, formatBytes, formatCount, loadWords, plural, words } from '../../words'
import { SystemTabs } from './system-tabs'

const t = await loadWords('system')
const pollMs = 10_000

type SystemStatusData = Schema['SystemStatus']

export function SystemStatus() {
  const status = useQuery({ ...get('/v1/system/status'), refetchInterval: pollMs })
  return (
    <Loaded query={status}>
      {(data) => {
        const failingSweeps = data.sweeps.filter(({ failing_since }) => failing_since !== null)
        const otherAlarms = data.alarms.filter(({ kind }) => kind === 'sweeps_late' || kind === 'database_full')
        const problems =
          failingSweeps.length + data.failing_services.length + data.dead_messages.length + otherAlarms.length
        return (
          <Stack gap="md">
            <Heading
              title={t.title}
              mark={
                <Status
                  tone={problems === 0 ? 'good' : 'bad'}
                  label={problems === 0 ? t.fine : plural(problems, t.problems)}
                />
              }
            />
            <SystemTabs />
            {data.alarms.length > 0 && <Alarms alarms={data.alarms} />}
            <Figures status={data} failingSweeps={failingSweeps.length} />
            {data.failing_services.length > 0 && <FailingServices services={data.failing_services} />}
            {data.dead_messages.length > 0 && <DeadQueues queues={data.dead_messages} />}
            <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
              <Work status={data} />
              <Stack gap="md">
                <LastHour rows={data.last_hour} />
                <Sizes tables={data.tables} />
              </Stack>
            </SimpleGrid>
            <Sweeps sweeps={data.sweeps} failing={failingSweeps} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

const Figure = ({ label, value, isBad = false }: { label: string; value: ReactNode; isBad?: boolean }) => (
  <Paper withBorder p="sm">
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    <Text size="xl" fw={700} className="figure" c={isBad ? 'var(--mantine-color-error)' : undefined} component="div">
      {value}
    </Text>
  </Paper>
)

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

function Figures({ status, failingSweeps }: { status: SystemStatusData; failingSweeps: number }) {
  const due = sum(status.work.map((work) => work.due))
  const dead = sum(status.dead_messages.map(({ count }) => count))
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="xs">
      <Figure label={t.due} value={formatCount(due)} />
      <Figure label={t.dead} value={formatCount(dead)} isBad={dead > 0} />
      <Figure
        label={t.failingServices}
        value={formatCount(status.failing_services.length)}
        isBad={status.failing_services.length > 0}
      />
      <Figure label={t.failingSweeps} value={formatCount(failingSweeps)} isBad={failingSweeps > 0} />
      <Figure
        label={t.database}
        value={status.database_bytes === null ? t.unknown : formatBytes(status.database_bytes)}
      />
      <Figure label={t.files} value={formatBytes(status.stored_file_bytes)} />
    </SimpleGrid>
  )
}

type Alarm = SystemStatusData['alarms'][number]

function AlarmSubject({ alarm: { kind, subject, resource_id } }: { alarm: Alarm }) {
  const service =
    kind === 'provider_failing' && subject !== null ? (t.services as Record<string, string>)[subject] : null
  return (
    <>
      {t.alarmKinds[kind]}
      {service && `: ${service}`}
      {[service ? null : subject, resource_id].map(
        (name) =>
          name !== null && (
            <Text key={name} size="xs" c="dimmed" ff="monospace">
              {name}
            </Text>
          ),
      )}
    </>
  )
}

/** Says whether the operator was told, where a receiver of alarms is set. */
const AlarmNotice = ({ alarm: { notified_at, notification_error } }: { alarm: Alarm }) =>
  notification_error === null ? (
    notified_at === null ? (
      '–'
    ) : (
      <Time at={notified_at} age />
    )
  ) : (
    <Status tone="bad" label={t.notPosted} />
  )

const Alarms = ({ alarms }: { alarms: Alarm[] }) => (
  <Section title={t.alarms} hint={t.alarmsHint}>
    <ScrollTable label={`${t.alarms}: ${t.table}`} width={640}>
      <Head labels={[t.alarm, t.reason, t.action, t.since, t.posted]} />
      <Table.Tbody>
        {alarms.map((alarm) => (
          <Table.Tr
            key={`${alarm.kind} ${alarm.subject} ${alarm.resource_id} ${alarm.ended_at}`}
            c={alarm.is_present ? undefined : 'dimmed'}
          >
            <Table.Td>
              <AlarmSubject alarm={alarm} />
            </Table.Td>
            <Table.Td className="break">
              {alarm.message}
              {!alarm.is_present && <Text size="xs">{alarm.ended_at === null ? t.alarmAbsent : t.alarmEnded}</Text>}
            </Table.Td>
            <Table.Td className="break">{t.alarmActions[alarm.kind]}</Table.Td>
            <Table.Td>
              <Time at={alarm.since} age />
            </Table.Td>
            <Table.Td className="break">
              <AlarmNotice alarm={alarm} />
              {alarm.notification_error !== null && (
                <Text size="xs" c="dimmed">
                  {alarm.notification_error}
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  </Section>
)

const Head = ({ labels }: { labels: readonly string[] }) => (
  <Table.Thead>
    <Table.Tr>
      {labels.map((label) => (
        <Table.Th key={label}>{label}</Table.Th>
      ))}
    </Table.Tr>
  </Table.Thead>
)

const FailingServices = ({ services }: { services: SystemStatusData['failing_services'] }) => (
  <Section title={t.failingServices} hint={t.servicesHint}>
    <ScrollTable label={`${t.failingServices}: ${t.table}`} width={560}>
      <Head labels={[t.service, t.reason, t.since, t.nextAttempt]} />
      <Table.Tbody>
        {services.map(({ service, count, resource_id, reason, waiting_since, next_attempt_at }) => (
          <Table.Tr key={service}>
            <Table.Td>
              {t.services[service]}
              {count > 1 && ` (${plural(count, t.serviceCount)})`}
              {resource_id !== null && (
                <Text size="xs" c="dimmed" ff="monospace">
                  {resource_id}
                </Text>
              )}
            </Table.Td>
            <Table.Td className="break">{reason}</Table.Td>
            <Table.Td>
              <Time at={waiting_since} age />
            </Table.Td>
            <Table.Td>{next_attempt_at === null ? '–' : <Time at={next_attempt_at} age />}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  </Section>
)

const DeadQueues = ({ queues }: { queues: SystemStatusData['dead_messages'] }) => (
  <Section title={t.dead} hint={t.deadHint}>
    <ScrollTable label={`${t.dead}: ${t.table}`} width={520}>
      <Head labels={[t.queue, t.dueCount, t.error, t.since]} />
      <Table.Tbody>
        {queues.map(({ queue, count, latest_at, latest_error }) => (
          <Table.Tr key={queue}>
            <Table.Td>
              <Link className="link" to="/system/dead-messages" search={{ queue, is_retried: false }}>
                {queue}
              </Link>
            </Table.Td>
            <Table.Td className="numbers">{formatCount(count)}</Table.Td>
            <Table.Td className="break">{latest_error ?? t.notStored}</Table.Td>
            <Table.Td>
              <Time at={latest_at} age />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  </Section>
)

function Work({ status }: { status: SystemStatusData }) {
  const write = (count: number) =>
    count >= status.counted_up_to ? fill(t.atLeast, { count: formatCount(count) }) : formatCount(count)
  return (
    <Section title={t.work} hint={t.workHint}>
      <ScrollTable label={`${t.work}: ${t.table}`} width={380}>
        <Head labels={[t.kind, t.dueCount, t.planned, t.oldest]} />
        <Table.Tbody>
          {status.work.map(({ kind, due, planned, oldest_due_at }) => (
            <Table.Tr key={kind} c={due + planned === 0 ? 'dimmed' : undefined}>
              <Table.Td>{t.kinds[kind]}</Table.Td>
              <Table.Td>{write(due)}</Table.Td>
              <Table.Td>{write(planned)}</Table.Td>
              <Table.Td>{oldest_due_at === null ? '–' : <Time at={oldest_due_at} age />}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
    </Section>
  )
}

/** Names such as `webhook_deliveries` of tables and counters have no fixed list. */
const writeName = (name: string): string => (t.kinds as Record<string, string>)[name] ?? name.replaceAll('_', ' ')

const LastHour = ({ rows }: { rows: SystemStatusData['last_hour'] }) => (
  <Section title={t.lastHour}>
    {rows.length === 0 ? (
      <Text size="sm" c="dimmed">
        {t.lastHourEmpty}
      </Text>
    ) : (
      <Table>
        <Table.Tbody>
          {rows.map(({ kind, status, count }) => (
            <Table.Tr key={`${kind}${status}`}>
              <Table.Td>{writeName(kind)}</Table.Td>
              <Table.Td>{status.replaceAll('_', ' ')}</Table.Td>
              <Table.Td className="numbers">{formatCount(count)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    )}
  </Section>
)

const Sizes = ({ tables }: { tables: SystemStatusData['tables'] }) => (
  <Section title={t.tables}>
    <Table>
      <Table.Tbody>
        {tables.map(({ name, rows }) => (
          <Table.Tr key={name}>
            <Table.Td>{writeName(name)}</Table.Td>
            <Table.Td className="numbers">{formatCount(rows)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Section>
)

type Sweep = SystemStatusData['sweeps'][number]

/** The jobs that fail. All of them only on demand, because each minute has many. */
function Sweeps({ sweeps, failing }: { sweeps: Sweep[]; failing: Sweep[] }) {
  const [isOpen, setOpen] = useState(false)
  const rows = isOpen ? sweeps : failing
  return (
    <Section
      title={t.sweeps}
      hint={sweeps.length === 0 ? t.noSweeps : failing.length === 0 ? plural(sweeps.length, t.sweepsFine) : undefined}
      actions={
        sweeps.length > 0 && (
          <Button variant="default" size="xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? t.showLess : t.showAll}
          </Button>
        )
      }
    >
      {rows.length > 0 && (
        <ScrollTable label={`${t.sweeps}: ${t.table}`} width={520}>
          <Head labels={[t.sweep, words.common.status, t.lastRun, t.duration]} />
          <Table.Tbody>
            {rows.map(({ name, last_run_at, duration_ms, failing_since, error }) => (
              <Table.Tr key={name}>
                <Table.Td ff="monospace">{name}</Table.Td>
                <Table.Td className="break">
                  {failing_since === null ? (
                    '✓'
                  ) : (
                    <>
                      {error} ({t.since} <Time at={failing_since} age />)
                    </>
                  )}
                </Table.Td>
                <Table.Td>
                  <Time at={last_run_at} age />
                </Table.Td>
                <Table.Td className="numbers">{formatCount(duration_ms)} ms</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </ScrollTable>
      )}
    </Section>
  )
}
