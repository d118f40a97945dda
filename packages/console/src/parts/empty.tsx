import { Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Says that there is nothing yet, and what to do. */
export const Empty = ({ title, hint, action }: { title: string; hint?: ReactNode; action?: ReactNode }) => (
  <Paper withBorder p="xl">
    <Stack align="center" gap="xs" ta="center">
      <Text fw={600}>{title}</Text>
      {hint && (
        <Text c="dimmed" size="sm" maw={480} component="div">
          {hint}
        </Text>
      )}
      {action}
    </Stack>
  </Paper>
)
