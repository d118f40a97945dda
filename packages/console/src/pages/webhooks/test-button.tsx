import { Select, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate, useParams } from '@tanstack/react-router'
import { api } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { loadWords } from '../../words'
import type { EndpointDetail } from './counts'
import { Example } from './event-choice'
import { type EventKind, eventKinds, nameKind } from './kinds'

const t = await loadWords('webhooks')

/** Sends the example of a kind of events to the endpoint. */
export function TestButton({ endpoint: { id, is_active, events } }: { endpoint: EndpointDetail }) {
  const [isOpen, dialog] = useDisclosure()
  const { edition = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  const [first] = events
  return (
    <>
      <ActionButton operation="testWebhook" reason={is_active ? null : t.offReason} onClick={dialog.open}>
        {t.test}
      </ActionButton>
      <FormDialog
        title={t.test}
        isOpen={isOpen}
        close={dialog.close}
        size="lg"
        initialValues={{ event: (first ?? 'order.created') as EventKind }}
        send={({ event }, headers) =>
          api.POST('/v1/webhooks/{id}/test', { params: { path: { id } }, headers, body: { event } })
        }
        onSent={({ data }) =>
          navigate({
            to: '/editions/$edition/webhooks/$webhook/deliveries/$delivery',
            params: { edition, webhook: id, delivery: data.id },
          })
        }
        submitLabel={t.send}
      >
        {(form) => (
          <>
            <Text size="sm">{t.testHint}</Text>
            <Select
              label={t.event}
              allowDeselect={false}
              searchable
              data={[...events, ...eventKinds.filter((kind) => !events.includes(kind))].map((kind) => ({
                value: kind,
                label: `${nameKind(kind)} (${kind})`,
              }))}
              {...form.getInputProps('event')}
            />
            <Example kind={form.values.event} />
          </>
        )}
      </FormDialog>
    </>
  )
}
