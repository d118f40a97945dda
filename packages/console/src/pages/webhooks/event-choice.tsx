import { Button, Checkbox, Collapse, Group, Input, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { get } from '../../api'
import { CodeBlock } from '../../parts/code-block'
import { loadWords } from '../../words'
import { type EventKind, eventKinds, nameKind } from './kinds'

const t = await loadWords('webhooks')

/** The example of a kind of events, as endpoints receive it. */
export function Example({ kind }: { kind: string }) {
  const kinds = useQuery({ ...get('/v1/webhooks/event-kinds'), staleTime: Infinity }).data
  const example = kinds?.results.find((one) => one.kind === kind)?.example
  return (
    <CodeBlock name={`${t.example}: ${kind}`} text={example ? JSON.stringify(example, null, 2) : '…'} height={260} />
  )
}

interface Props {
  value: EventKind[]
  onChange: (kinds: EventKind[]) => void
  error?: React.ReactNode
}

/** The kinds of events that an endpoint receives, each with its meaning and an example. */
export function EventChoice({ value, onChange, error }: Props) {
  const [example, setExample] = useState<EventKind | null>(null)
  const isAll = value.length === eventKinds.length
  return (
    <Checkbox.Group label={t.eventKinds} withAsterisk error={error} value={value} onChange={(kinds) => onChange(kinds)}>
      <Stack gap="xs" mt={4}>
        <Group>
          <Button size="compact-xs" variant="default" onClick={() => onChange(isAll ? [] : [...eventKinds])}>
            {isAll ? t.chooseNone : t.chooseAll}
          </Button>
        </Group>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs" verticalSpacing={6}>
          {eventKinds.map((kind) => (
            <Group key={kind} justify="space-between" wrap="nowrap" align="start">
              <Checkbox size="xs" value={kind} label={nameKind(kind)} description={kind} />
              <Button
                size="compact-xs"
                variant="subtle"
                aria-label={`${t.example}: ${nameKind(kind)}`}
                aria-expanded={example === kind}
                onClick={() => setExample(example === kind ? null : kind)}
              >
                {t.example}
              </Button>
            </Group>
          ))}
        </SimpleGrid>
        <Collapse expanded={example !== null}>
          {example !== null && (
            <Input.Wrapper labelElement="div" label={nameKind(example)}>
              <Example kind={example} />
            </Input.Wrapper>
          )}
        </Collapse>
        <Text size="xs" c="dimmed">
          {t.importNote}
        </Text>
      </Stack>
    </Checkbox.Group>
  )
}
