import { Alert, Checkbox, List, SimpleGrid, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { api, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { toInstant, toLocal } from '../../parts/days'
import { FormDialog } from '../../parts/form-dialog'
import { formatCount, loadWords, plural, words } from '../../words'
import { type EndpointDetail, useLostCount, useOpenCount } from './counts'

const t = await loadWords('webhooks')

interface Values extends Record<string, unknown> {
  since: string
  until: string
  include_missed: boolean
}

const dayMs = 86_400_000

/** Sends again what ended without success, and what happened while the endpoint was off. */
export function RecoverButton({ endpoint: { id, is_active, failing_since } }: { endpoint: EndpointDetail }) {
  const [isOpen, dialog] = useDisclosure()
  const [result, setResult] = useState<Schema['WebhookRecovery'] | null>(null)
  const zone = useEdition()?.timezone ?? 'UTC'
  const start = failing_since ?? new Date(Date.now() - dayMs).toISOString()
  const toWindow = ({ since, until }: Values) => ({
    since: toInstant(since, zone),
    ...(until !== '' && { until: toInstant(until, zone) }),
  })
  return (
    <>
      <ActionButton
        operation="recoverWebhookDeliveries"
        variant="default"
        reason={is_active ? null : t.offReason}
        onClick={dialog.open}
      >
        {t.recover}
      </ActionButton>
      <FormDialog<Values, { data: Schema['WebhookRecovery'] }>
        title={t.recover}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{ since: toLocal(start, zone), until: '', include_missed: false }}
        canSubmit={({ since }) => since !== ''}
        send={(values, headers) =>
          api.POST('/v1/webhooks/{id}/recover', {
            params: { path: { id } },
            headers,
            body: { ...toWindow(values), include_missed: values.include_missed },
          })
        }
        onSent={({ data }) => setResult(data)}
        submitLabel={t.recover}
      >
        {(form) => (
          <>
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <TextInput type="datetime-local" label={t.from} required {...form.getInputProps('since')} />
              <TextInput type="datetime-local" label={t.until} {...form.getInputProps('until')} />
            </SimpleGrid>
            <Checkbox
              label={t.includeMissed}
              description={t.includeMissedHint}
              {...form.getInputProps('include_missed', { type: 'checkbox' })}
            />
            {form.values.since !== '' && <RecoveryCounts id={id} {...toWindow(form.values)} />}
          </>
        )}
      </FormDialog>
      {result && <RecoveryResult result={result} close={() => setResult(null)} />}
    </>
  )
}

/** Counts the deliveries that would be sent, as far as the service knows them before. */
function RecoveryCounts({ id, since, until }: { id: string; since: string; until?: string }) {
  const window = { created_after: since, ...(until && { created_before: until }) }
  const lost = useLostCount(id, window)
  const open = useOpenCount(id, window)
  if (lost === undefined || open === undefined) return <Text size="sm">{words.common.loading} …</Text>
  return (
    <List size="sm">
      <List.Item>
        <b>{plural(lost, t.recoverCount)}</b>
      </List.Item>
      {open > 0 && <List.Item>{plural(open, t.recoverOpen)}</List.Item>}
    </List>
  )
}

function RecoveryResult({ result, close }: { result: Schema['WebhookRecovery']; close: () => void }) {
  const { recovered, missed, has_more_missed, waiting, waiting_reason } = result
  return (
    <Alert
      color={has_more_missed ? 'yellow' : 'teal'}
      variant="outline"
      title={t.recovered}
      withCloseButton
      closeButtonLabel={words.common.close}
      onClose={close}
      w="100%"
    >
      <Text size="sm">
        {t.recoveredFailed}: {formatCount(recovered)} · {t.recoveredMissed}: {formatCount(missed)} · {t.waiting}:{' '}
        {formatCount(waiting)}
      </Text>
      {has_more_missed && <Text size="sm">{t.moreMissed}</Text>}
      {waiting_reason !== null && <Text size="sm">{waiting_reason}</Text>}
    </Alert>
  )
}
