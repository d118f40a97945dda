import { ActionIcon, Alert, Menu, Modal, Select, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCopy, IconDots, IconSend, IconTemplate, IconTrash } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../../api'
import { useCaller, useEditionId, useOrganizationId } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { MenuAction } from '../../parts/menu-action'
import { SendTest } from '../../parts/send-test'
import { loadWords, words } from '../../words'

const t = await loadWords('emailMessages')

interface Props {
  message: Schema['EmailMessageDetail']
}

/** The actions on a message besides changing it. */
export function MessageActions({ message }: Props) {
  const edition = useEditionId() ?? ''
  const [isTesting, test] = useDisclosure()
  const [isCopying, copy] = useDisclosure()
  const [isAdopting, adopt] = useDisclosure()
  const [isDeleting, remove] = useDisclosure()
  const organization = useOrganizationId() ?? ''
  return (
    <>
      {message.scope !== 'edition' && (
        <ActionButton
          operation="adoptEmailMessage"
          leftSection={<IconTemplate size={16} aria-hidden />}
          onClick={adopt.open}
        >
          {t.adopt}
        </ActionButton>
      )}
      {message.scope !== 'platform' && (
        <ActionButton
          operation="sendTestMessage"
          variant="default"
          leftSection={<IconSend size={16} aria-hidden />}
          onClick={test.open}
        >
          {t.sendTest}
        </ActionButton>
      )}
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t.more}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <MenuAction
            leftSection={<IconCopy size={16} aria-hidden />}
            operation="duplicateEmailMessage"
            onClick={copy.open}
          >
            {t.duplicate}
          </MenuAction>
          <MenuAction
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            operation="deleteEmailMessage"
            reason={message.locked ? t.platformHint : null}
            onClick={remove.open}
          >
            {words.common.delete}
          </MenuAction>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isTesting} onClose={test.close} title={t.sendTest} size="lg">
        <Alert color="blue" variant="outline" p="xs" mb="sm">
          {t.testIsSaved}
        </Alert>
        <SendTest
          operation="sendTestMessage"
          edition={message.edition?.id ?? null}
          organization={message.organization?.id ?? organization}
          send={async (body, headers) => {
            const params = { path: { id: message.id } }
            return (await api.POST('/v1/email-messages/{id}/send-test', { params, body, headers })).data
          }}
        />
      </Modal>
      <CopyDialog message={message} isOpen={isCopying} close={copy.close} />
      <AdoptDialog message={message} edition={edition} isOpen={isAdopting} close={adopt.close} />
      <DeleteDialog message={message} isOpen={isDeleting} close={remove.close} />
    </>
  )
}

interface DialogProps extends Props {
  isOpen: boolean
  close: () => void
}

/** Opens a message in the edition that it belongs to; templates open in the edition of the page. */
function useOpen() {
  const edition = useEditionId() ?? ''
  const navigate = useNavigate()
  return (message: Schema['EmailMessageDetail']) =>
    navigate({
      to: '/editions/$edition/email-messages/$message',
      params: { edition: message.edition?.id ?? edition, message: message.id },
    })
}

const template = 'template'

/** The copy can go into another edition of the organisation, or become a template. */
function CopyDialog({ message, isOpen, close }: DialogProps) {
  const editions = useCaller()?.editions ?? []
  const here = useEditionId()
  const organization = useOrganizationId()
  const owner = message.organization?.id ?? organization
  const open = useOpen()
  const choices = editions.filter(({ organization_id }) => organization_id === owner)
  return (
    <FormDialog
      title={t.duplicate}
      isOpen={isOpen}
      close={close}
      initialValues={{ title: t.copyTitle.replace('{title}', message.title), edition: here ?? template }}
      send={async ({ title, edition }, headers) => {
        const body = edition === template ? { title, organization_id: owner } : { title, edition_id: edition }
        const params = { path: { id: message.id } }
        return (await api.POST('/v1/email-messages/{id}/duplicate', { params, body, headers })).data
      }}
      onSent={open}
      done={t.duplicated}
      submitLabel={t.duplicate}
    >
      {(form) => (
        <>
          <TextInput label={t.name} required data-autofocus {...form.getInputProps('title')} />
          <Select
            label={t.copyTo}
            allowDeselect={false}
            searchable
            data={[
              { value: template, label: t.scopes.template },
              ...choices.map(({ id, full_name }) => ({ value: id, label: full_name })),
            ]}
            {...form.getInputProps('edition')}
          />
        </>
      )}
    </FormDialog>
  )
}

function AdoptDialog({ message, edition, isOpen, close }: DialogProps & { edition: string }) {
  const open = useOpen()
  const isSent =
    message.type === 'receipt' || message.type === 'receipt_online' || message.type === 'refund_confirmation'
  return (
    <FormDialog
      title={t.adopt}
      isOpen={isOpen}
      close={close}
      initialValues={{ title: message.title }}
      send={async ({ title }, headers) => {
        const init = { params: { path: { id: message.id } }, body: { title, edition_id: edition }, headers }
        return (await api.POST('/v1/email-messages/{id}/adopt', init)).data
      }}
      onSent={open}
      done={t.adopted}
      submitLabel={t.adopt}
    >
      {(form) => (
        <>
          <div>{isSent ? t.adoptSends : t.adoptHint}</div>
          <TextInput label={t.name} required data-autofocus {...form.getInputProps('title')} />
        </>
      )}
    </FormDialog>
  )
}

function DeleteDialog({ message, isOpen, close }: DialogProps) {
  const edition = useEditionId() ?? ''
  const navigate = useNavigate()
  return (
    <FormDialog
      title={t.deleteTitle.replace('{title}', message.title)}
      isOpen={isOpen}
      close={close}
      initialValues={{}}
      send={async (_, headers) => {
        await api.DELETE('/v1/email-messages/{id}', { params: { path: { id: message.id } }, headers })
      }}
      onSent={() => navigate({ to: '/editions/$edition/email-messages', params: { edition } })}
      done={t.deletedMessage}
      submitLabel={words.common.delete}
      isDangerous
    >
      {() => t.deleteHint}
    </FormDialog>
  )
}
