import { Group, Stack, Text } from '@mantine/core'
import type { Schema } from '../../api'
import { EmailStatus } from '../../parts/states'
import { Time } from '../../parts/time'
import { loadWords, words } from '../../words'

const t = await loadWords('orders')
type Email = Schema['OrderDetail']['emails'][number]

const readFault = ({ waiting_reason, error_code }: Email): string | null =>
  waiting_reason ??
  (error_code === null ? null : ((t.emailErrors as Readonly<Record<string, string>>)[error_code] ?? error_code))

/** The e-mails about an order, with what keeps each from being sent. */
export const Emails = ({ emails }: { emails: readonly Email[] }) =>
  emails.length === 0 ? (
    <Text size="sm" c="dimmed">
      {t.noEmails}
    </Text>
  ) : (
    <Stack gap="xs">
      {emails.toReversed().map((email) => (
        <div key={`${email.kind}${email.created}`}>
          <Group gap="xs" justify="space-between">
            <Text size="sm">{words.states.emailKinds[email.kind]}</Text>
            <EmailStatus status={email.status} />
          </Group>
          <Text size="xs" c="dimmed" component="div">
            <Time at={email.sent_at ?? email.created} />
            {email.next_attempt_at !== null && (
              <>
                {' '}
                · {words.states.nextAttempt} <Time at={email.next_attempt_at} />
              </>
            )}
          </Text>
          {readFault(email) !== null && (
            <Text size="xs" c="var(--mantine-color-error)">
              {readFault(email)}
            </Text>
          )}
        </div>
      ))}
    </Stack>
  )
