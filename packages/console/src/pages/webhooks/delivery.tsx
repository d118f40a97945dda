import { SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api, get, type Schema } from '../../api'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { CodeBlock } from '../../parts/code-block'
import { Copy } from '../../parts/copy'
import { Facts } from '../../parts/facts'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { Refusal } from '../../parts/refusal'
import { RoleGate } from '../../parts/role-gate'
import { ScrollTable } from '../../parts/scroll-table'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { formatCount, loadWords } from '../../words'
import { pollMs, useEndpoints } from './delivery-list'
import { nameKind } from './kinds'
import { DeliveryStatus } from './statuses'

const route = getRouteApi('/shell/editions/$edition/webhooks/$webhook/deliveries/$delivery')
const t = await loadWords('webhooks')

type DeliveryDetail = Schema['WebhookDeliveryDetail']

export const Delivery = () => (
  <RoleGate operation="getWebhookDelivery">
    <DeliveryPage />
  </RoleGate>
)

const isOpen = (status: DeliveryDetail['status'] | undefined): boolean => status === 'pending' || status === 'retrying'

function DeliveryPage() {
  const { edition, webhook: id, delivery: delivery_id } = route.useParams()
  const delivery = useQuery({
    ...get('/v1/webhooks/{id}/deliveries/{delivery_id}', { params: { path: { id, delivery_id } } }),
    refetchInterval: ({ state }) => (isOpen(state.data?.data.status) ? pollMs / 2 : false),
  })
  const endpoint = useEndpoints().get(id)
  return (
    <Loaded query={delivery}>
      {(data) => (
        <Stack gap="sm">
          <Heading
            title={nameKind(data.event)}
            mark={<DeliveryStatus status={data.status} />}
            facts={data.event}
            back={{
              link: { to: '/editions/$edition/webhooks/$webhook', params: { edition, webhook: id } },
              label: endpoint?.name ?? t.endpoint,
            }}
            actions={<RetryButton delivery={data} isActive={endpoint?.is_active ?? true} />}
          />
          <Facts
            facts={[
              [t.happened, <Time key="at" at={data.created} />],
              [
                t.endpoint,
                <Link
                  key="endpoint"
                  className="link"
                  to="/editions/$edition/webhooks/$webhook"
                  params={{ edition, webhook: id }}
                >
                  {endpoint?.name ?? id}
                </Link>,
              ],
              [t.nextAttempt, data.next_retry_at && <Time key="next" at={data.next_retry_at} />],
              [
                t.eventId,
                <span key="id">
                  {data.event_id} <Copy text={data.event_id} name={t.eventId} />
                </span>,
              ],
            ]}
          />
          <Section title={t.attempts}>
            <Attempts delivery={data} />
          </Section>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Section title={t.headers} hint={t.headersHint}>
              <CodeBlock name={`${t.headers}: ${data.event}`} text={writeHeaders(data)} />
            </Section>
            <Section title={t.payload}>
              <CodeBlock name={`${t.payload}: ${data.event}`} text={formatPayload(data.payload)} />
            </Section>
          </SimpleGrid>
        </Stack>
      )}
    </Loaded>
  )
}

/** Lays out JSON to read. The service sends it without spaces. */
export function formatPayload(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}

const writeHeaders = ({ event_id, signed_at, signature }: DeliveryDetail): string =>
  [
    'content-type: application/json',
    `webhook-id: ${event_id}`,
    `webhook-timestamp: ${signed_at === null ? '' : Math.floor(Date.parse(signed_at) / 1000)}`,
    `webhook-signature: ${signature}`,
  ].join('\n')

function RetryButton({
  delivery: { id, endpoint_id, status },
  isActive,
}: {
  delivery: DeliveryDetail
  isActive: boolean
}) {
  const retry = useChange(
    (_: null, headers) =>
      api.POST('/v1/webhooks/{id}/deliveries/{delivery_id}/retry', {
        params: { path: { id: endpoint_id, delivery_id: id } },
        headers,
      }),
    { done: t.retried },
  )
  const reason = status === 'success' ? t.alreadyDelivered : isActive ? null : t.offReason
  return (
    <Stack gap="xs">
      <ActionButton
        operation="retryWebhookDelivery"
        reason={reason}
        loading={retry.isPending}
        onClick={() => retry.mutate(null)}
      >
        {t.retryNow}
      </ActionButton>
      {retry.error && <Refusal error={retry.error} />}
    </Stack>
  )
}

const nameError = (error: string): string => (t.errors as Readonly<Record<string, string>>)[error] ?? error
const nameReason = (reason: string): string => (t.nextReasons as Readonly<Record<string, string>>)[reason] ?? reason

function Attempts({ delivery: { attempt_log, attempts, event } }: { delivery: DeliveryDetail }) {
  if (attempt_log.length === 0) return <Text size="sm">{t.noAttempt}</Text>
  return (
    <>
      {attempts > attempt_log.length && (
        <Text size="sm" c="dimmed">
          {t.latestAttempts.replace('#', formatCount(attempt_log.length))}
        </Text>
      )}
      <ScrollTable label={`${t.attempts}: ${event}`} width={760}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className="numbers">#</Table.Th>
            <Table.Th>{t.time}</Table.Th>
            <Table.Th className="numbers">{t.duration}</Table.Th>
            <Table.Th>{t.answer}</Table.Th>
            <Table.Th>{t.answerText}</Table.Th>
            <Table.Th>{t.nextAttempt}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {attempt_log.toReversed().map((attempt) => (
            <Table.Tr key={attempt.number}>
              <Table.Td className="numbers">{formatCount(attempt.number)}</Table.Td>
              <Table.Td>
                <Time at={attempt.started_at} />
                {attempt.is_manual && (
                  <Text size="xs" c="dimmed">
                    {t.manual}
                  </Text>
                )}
              </Table.Td>
              <Table.Td className="numbers">{formatCount(attempt.duration_ms)} ms</Table.Td>
              <Table.Td c={attempt.error === null ? undefined : 'var(--mantine-color-error)'}>
                {[attempt.status_code, attempt.error === null ? t.accepted : nameError(attempt.error)]
                  .filter((part) => part !== null)
                  .join(' · ')}
              </Table.Td>
              <Table.Td className="break" maw={320}>
                <Text size="xs" ff="monospace" lineClamp={4} title={attempt.response_text ?? undefined}>
                  {attempt.response_text}
                </Text>
              </Table.Td>
              <Table.Td>
                {attempt.next_retry_at && <Time at={attempt.next_retry_at} />}
                {attempt.next_reason !== null && (
                  <Text size="xs" c="dimmed">
                    {nameReason(attempt.next_reason)}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
    </>
  )
}
