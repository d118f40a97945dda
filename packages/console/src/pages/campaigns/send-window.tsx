import { Chip, Group, Stack, Switch, Text, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useEdition } from '../../caller'
import { loadWords, locale } from '../../words'
import type { CampaignDetail } from './types'

const t = await loadWords('campaigns')

export type SendWindow = NonNullable<CampaignDetail['send_window']>

const days: readonly SendWindow['days'][number][] = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
]

/** The first of January 2024 is a Monday. */
const nameDay = (day: SendWindow['days'][number]): string =>
  new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' }).format(
    new Date(Date.UTC(2024, 0, 1 + days.indexOf(day))),
  )

/** Writes a window such as "Mon, Tue 09:00–20:00". */
export const formatWindow = (window: SendWindow): string =>
  `${days
    .filter((day) => window.days.includes(day))
    .map(nameDay)
    .join(', ')} ${window.from}–${window.to}`

interface Props {
  value: SendWindow | null
  onChange: (window: SendWindow | null) => void
  error?: ReactNode
}

const working: SendWindow = { days: days.slice(0, 5), from: '09:00', to: '20:00' }

/** The days and hours in which messages go out. */
export function SendWindowFields({ value, onChange, error }: Props) {
  const zone = useEdition()?.timezone
  return (
    <Stack gap="xs">
      <Switch
        label={t.limitHours}
        description={t.windowHint}
        checked={value !== null}
        onChange={({ currentTarget: { checked } }) => onChange(checked ? working : null)}
      />
      {value !== null && (
        <>
          <Chip.Group
            multiple
            value={value.days}
            onChange={(chosen) => {
              // A window without a day would never open.
              if (chosen.length > 0) onChange({ ...value, days: days.filter((day) => chosen.includes(day)) })
            }}
          >
            <Group gap={6} role="group" aria-label={t.windowDays}>
              {days.map((day) => (
                <Chip key={day} value={day} size="xs">
                  {nameDay(day)}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
          <Group gap="xs" align="end">
            <TextInput
              type="time"
              label={t.windowFrom}
              value={value.from}
              onChange={({ currentTarget: { value: from } }) => from !== '' && onChange({ ...value, from })}
            />
            <TextInput
              type="time"
              label={t.windowTo}
              value={value.to === '24:00' ? '00:00' : value.to}
              onChange={({ currentTarget: { value: to } }) =>
                to !== '' && onChange({ ...value, to: to === '00:00' ? '24:00' : to })
              }
            />
            <Text size="sm" c="dimmed" pb={8}>
              {zone}
            </Text>
          </Group>
        </>
      )}
      {error && (
        <Text size="sm" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
    </Stack>
  )
}
