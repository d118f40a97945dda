import { Group, Paper, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  /** Explains in one sentence what is here, where the title alone does not. */
  hint?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** A part of a page with its own heading. */
export const Section = ({ title, hint, actions, children }: Props) => (
  <Paper withBorder p="md" component="section" aria-label={title} miw={0}>
    <Group justify="space-between" align="start" mb="xs" gap="xs">
      <div>
        <Title order={2} size="h5">
          {title}
        </Title>
        {hint && (
          <Text size="sm" c="dimmed" component="div">
            {hint}
          </Text>
        )}
      </div>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
    {children}
  </Paper>
)
