import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Schema } from '../../api'
import { useOrganizationId } from '../../caller'
import { FormDialog } from '../../parts/form-dialog'
import { loadWords, words } from '../../words'
import { EndpointFields, type EndpointValues } from './endpoint-fields'
import { Secret } from './secret'
import { Snippets } from './snippets'

const t = await loadWords('webhooks')

/** Creates an endpoint, and shows its secret with the code that checks signatures. */
export function CreateDialog({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const { edition = '' } = useParams({ strict: false })
  const organization = useOrganizationId()
  const [created, setCreated] = useState<Schema['WebhookEndpointDetail'] | null>(null)
  const initialValues: EndpointValues = { name: '', url: '', edition_id: edition, events: [], timeout_seconds: 0 }
  return (
    <>
      <FormDialog
        title={t.new}
        isOpen={isOpen}
        close={close}
        size="xl"
        initialValues={initialValues}
        canSubmit={({ events }) => events.length > 0}
        send={({ edition_id, ...values }, headers) =>
          api.POST('/v1/webhooks', {
            headers,
            body: { ...values, organization_id: organization ?? '', edition_id: edition_id || null },
          })
        }
        onSent={({ data }) => setCreated(data)}
        submitLabel={words.common.create}
      >
        {(form) => <EndpointFields form={form} organization={organization} />}
      </FormDialog>
      <SecretDialog title={t.created} endpoint={created} close={() => setCreated(null)} />
    </>
  )
}

interface SecretProps {
  title: string
  endpoint: Schema['WebhookEndpointDetail'] | null
  close: () => void
}

/** The secret of an endpoint that is new or has a new one, and what to do with it. */
export function SecretDialog({ title, endpoint, close }: SecretProps) {
  const { edition = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  return (
    <Modal opened={endpoint !== null} onClose={close} title={title} size="xl">
      {endpoint?.secret !== undefined && (
        <Stack>
          <Text size="sm">{t.secretHint}</Text>
          <Secret secret={endpoint.secret} isOpen />
          <Snippets />
          <Group justify="end">
            <Button
              onClick={() => {
                close()
                void navigate({
                  to: '/editions/$edition/webhooks/$webhook',
                  params: { edition, webhook: endpoint.id },
                  search: {},
                })
              }}
            >
              {t.openEndpoint}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
