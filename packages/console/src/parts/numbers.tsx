import { Group, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Figure {
  label: string
  value: ReactNode
  /** A remark on the number, such as the same number of today. */
  hint?: ReactNode
}

/** The numbers that a page is about, largest first. */
export const Numbers = ({ figures }: { figures: readonly Figure[] }) => (
  <Group component="dl" m={0} gap="sm" grow preventGrowOverflow={false} align="stretch">
    {figures.map(({ label, value, hint }) => (
      <Paper key={label} withBorder p="sm" miw={140} maw="none">
        <Text component="dt" size="sm" c="dimmed">
          {label}
        </Text>
        <Text component="dd" m={0} fz="xl" fw={600} lh={1.3} className="figure">
          {value}
        </Text>
        {hint && (
          <Text component="dd" m={0} size="sm" c="dimmed">
            {hint}
          </Text>
        )}
      </Paper>
    ))}
  </Group>
)
