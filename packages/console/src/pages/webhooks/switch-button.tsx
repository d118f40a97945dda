import { Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { api } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { loadWords, plural } from '../../words'
import { type EndpointDetail, useOpenCount } from './counts'

const t = await loadWords('webhooks')

/** Switches an endpoint on or off, and says what happens to what waits. */
export function SwitchButton({ endpoint: { id, is_active, name } }: { endpoint: EndpointDetail }) {
  const [isOpen, dialog] = useDisclosure()
  const label = is_active ? t.switchOff : t.switchOn
  return (
    <>
      <ActionButton operation="updateWebhook" variant="default" onClick={dialog.open}>
        {label}
      </ActionButton>
      <FormDialog
        title={`${label}: ${name}`}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{}}
        send={(_, headers) =>
          api.PATCH('/v1/webhooks/{id}', {
            params: { path: { id } },
            headers,
            body: { is_active: !is_active },
          })
        }
        submitLabel={label}
        isDangerous={is_active}
      >
        {() => (is_active ? <OffText id={id} /> : <Text size="sm">{t.switchOnHint}</Text>)}
      </FormDialog>
    </>
  )
}

function OffText({ id }: { id: string }) {
  const open = useOpenCount(id)
  return (
    <>
      {open !== undefined && <Text size="sm">{plural(open, t.switchOffCount)}</Text>}
      <Text size="sm">{t.switchOffHint}</Text>
    </>
  )
}
