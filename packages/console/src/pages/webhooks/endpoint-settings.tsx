import { Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api'
import { useRefusalReason } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { EditForm, type Version } from '../../parts/edit-form'
import { FormDialog } from '../../parts/form-dialog'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { loadWords, plural, words } from '../../words'
import { type EndpointDetail, useOpenCount } from './counts'
import { SecretDialog } from './create-dialog'
import { EndpointFields, type EndpointValues, labels } from './endpoint-fields'
import { Secret } from './secret'
import { SwitchButton } from './switch-button'

const t = await loadWords('webhooks')

const readValues = ({ name, url, edition_id, events, timeout_seconds }: EndpointDetail): EndpointValues => ({
  name,
  url,
  edition_id: edition_id ?? '',
  events,
  timeout_seconds,
})

export function EndpointSettings({ latest }: { latest: Version<EndpointDetail> }) {
  const { id, organization_id } = latest.data
  const params = { path: { id } }
  return (
    <Stack gap="sm" maw={860}>
      <Section title={t.tabs.settings}>
        <EditForm<EndpointDetail, EndpointValues>
          latest={latest}
          read={readValues}
          labels={labels}
          operation="updateWebhook"
          save={({ edition_id, ...changes }, headers) =>
            api.PATCH('/v1/webhooks/{id}', {
              params,
              headers,
              body: { ...changes, ...(edition_id !== undefined && { edition_id: edition_id || null }) },
            })
          }
        >
          {(form) => <EndpointFields form={form} organization={organization_id ?? undefined} />}
        </EditForm>
      </Section>
      <SecretSection endpoint={latest.data} />
      <Section title={t.switchTitle} hint={latest.data.is_active ? t.switchOffHint : t.switchOnHint}>
        <Group>
          <SwitchButton endpoint={latest.data} />
          <DeleteButton endpoint={latest.data} />
        </Group>
      </Section>
    </Stack>
  )
}

function SecretSection({ endpoint }: { endpoint: EndpointDetail }) {
  const { id, secret, previous_secret_expires_at: expires } = endpoint
  const [isOpen, dialog] = useDisclosure()
  const [rotated, setRotated] = useState<EndpointDetail | null>(null)
  const reason = useRefusalReason('rotateWebhookSecret')
  return (
    <Section
      title={t.secret}
      hint={t.secretUse}
      actions={
        <ActionButton operation="rotateWebhookSecret" variant="default" onClick={dialog.open}>
          {t.rotate}
        </ActionButton>
      }
    >
      {secret === undefined ? <Text size="sm">{reason ?? t.secretHidden}</Text> : <Secret secret={secret} />}
      {expires !== null && (
        <Text size="sm" mt="xs">
          {t.previousSecret} <Time at={expires} />.
        </Text>
      )}
      <FormDialog
        title={t.rotate}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{}}
        send={(_, headers) => api.POST('/v1/webhooks/{id}/rotate-secret', { params: { path: { id } }, headers })}
        onSent={({ data }) => setRotated(data)}
        submitLabel={t.rotate}
      >
        {() => (
          <>
            <Text size="sm">{t.rotateHint}</Text>
            {expires !== null && <Text size="sm">{t.rotateTwice}</Text>}
          </>
        )}
      </FormDialog>
      <SecretDialog title={t.rotated} endpoint={rotated} close={() => setRotated(null)} />
    </Section>
  )
}

function DeleteButton({ endpoint: { id, name } }: { endpoint: EndpointDetail }) {
  const { edition = '' } = useParams({ strict: false })
  const navigate = useNavigate()
  const [isOpen, dialog] = useDisclosure()
  const open = useOpenCount(id)
  return (
    <>
      <ActionButton operation="deleteWebhook" variant="default" color="red" onClick={dialog.open}>
        {words.common.delete}
      </ActionButton>
      <FormDialog
        title={`${words.common.delete}: ${name}`}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{}}
        send={(_, headers) => api.DELETE('/v1/webhooks/{id}', { params: { path: { id } }, headers })}
        onSent={() => navigate({ to: '/editions/$edition/webhooks', params: { edition } })}
        submitLabel={words.common.delete}
        isDangerous
      >
        {() => (
          <>
            <Text size="sm">{t.deleteHint}</Text>
            {open !== undefined && open > 0 && <Text size="sm">{plural(open, t.switchOffCount)}</Text>}
          </>
        )}
      </FormDialog>
    </>
  )
}
