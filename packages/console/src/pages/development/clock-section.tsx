import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Loaded } from '../../parts/loaded'
import { Refusal } from '../../parts/refusal'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { formatCount, loadWords } from '../../words'
import { advanceClock, loadClock } from './service'

const t = await loadWords('development')
const hour = 3600
const steps = [
  { label: t.hour, seconds: hour },
  { label: t.day, seconds: 24 * hour },
  { label: t.week, seconds: 7 * 24 * hour },
]

/** Moves the time of the service, so that nobody waits for schedules and retries. */
export function ClockSection() {
  const clock = useQuery({ queryKey: ['clock'], queryFn: loadClock, refetchInterval: 30_000 })
  const advance = useMutation({ mutationFn: advanceClock })
  return (
    <Section title={t.clock} hint={t.clockHint}>
      <Stack gap="xs">
        <Loaded query={clock} heights={[40]}>
          {({ now, ahead_seconds }) => (
            <div>
              <Text fz="xl" fw={600} aria-live="polite">
                <Time at={now} />
              </Text>
              <Text size="sm" c="dimmed">
                {ahead_seconds === 0 ? t.onTime : `${t.ahead} ${formatCount(Math.round(ahead_seconds / hour))} h`}
              </Text>
            </div>
          )}
        </Loaded>
        <Group gap="xs">
          {steps.map(({ label, seconds }) => (
            <Button
              key={seconds}
              size="xs"
              variant="default"
              loading={advance.isPending && advance.variables === seconds}
              disabled={advance.isPending}
              onClick={() => advance.mutate(seconds)}
            >
              {label}
            </Button>
          ))}
        </Group>
        {advance.error && <Refusal error={advance.error} />}
      </Stack>
    </Section>
  )
}
