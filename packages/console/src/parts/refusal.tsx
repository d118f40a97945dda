import { ApiError, PreconditionFailedError } from '@event-commerce/client'
import { Alert, Anchor, Button, Code, Group, List, Stack, Text } from '@mantine/core'
import { words } from '../words'

interface Props {
  error: Error
  retry?: () => unknown
  /** The faults that a form shows at its fields already. */
  shown?: readonly string[]
}

/** A failed call with its code, text, page of the documentation and request id. */
export function Refusal({ error, retry, shown = [] }: Props) {
  const t = words.common
  const problem = error instanceof ApiError ? error.problem : null
  const faults = (problem?.errors ?? []).filter(({ pointer }) => pointer === null || !shown.includes(pointer))
  const title = error instanceof PreconditionFailedError ? t.changedMeanwhile : t.error
  return (
    <Alert color="red" variant="outline" title={title} role="alert">
      <Stack gap="xs">
        <Text size="sm">{problem?.detail ?? (error instanceof TypeError ? t.noConnection : error.message)}</Text>
        {faults.length > 0 && (
          <List size="sm">
            {faults.map(({ attr, detail, code }) => (
              <List.Item key={`${attr}${code}${detail}`}>
                {attr && <Code>{attr}</Code>} {detail}
              </List.Item>
            ))}
          </List>
        )}
        {problem && error instanceof ApiError && (
          <Text size="sm">
            <Code>{problem.code}</Code>
            {error.requestId && (
              <>
                {' '}
                · {t.request} <Code>{error.requestId}</Code>
              </>
            )}{' '}
            <Anchor href={`/docs/errors/${encodeURIComponent(problem.code)}`} target="_blank" size="sm">
              {t.explain}
            </Anchor>
          </Text>
        )}
        {retry && (
          <Group>
            <Button size="xs" variant="default" onClick={() => retry()}>
              {t.retry}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}
