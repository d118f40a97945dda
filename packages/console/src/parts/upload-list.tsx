import { CloseButton, Group, Paper, Progress, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { formatBytes, formatPercent, words } from '../words'
import { Refusal } from './refusal'
import type { Uploads } from './use-uploads'

/** Files on their way, with their progress and a button that cancels each. */
export function UploadList({ items, isBusy }: Uploads) {
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: isBusy })
  if (items.length === 0) return null
  return (
    <Stack gap="xs" aria-live="polite">
      {items.map(({ id, name, size, share, error, cancel }) => (
        <Paper key={id} withBorder p="sm">
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm" className="break">
              {name}{' '}
              <Text span size="sm" c="dimmed">
                {formatBytes(size)}
                {share !== null && error === null && ` · ${formatPercent(share)}`}
              </Text>
            </Text>
            <CloseButton
              aria-label={`${error === null ? words.common.cancel : words.common.remove}: ${name}`}
              onClick={cancel}
            />
          </Group>
          {error ? (
            <Refusal error={error} />
          ) : (
            <Progress
              mt={4}
              value={share === null ? 100 : share * 100}
              animated={share === null}
              aria-label={`${words.common.loading}: ${name}`}
            />
          )}
        </Paper>
      ))}
    </Stack>
  )
}
