import { List, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { api, getWithEtag, type Schema } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { EditDialog } from '../../parts/edit-form'
import { ExportButton } from '../../parts/export-button'
import { FormDialog } from '../../parts/form-dialog'
import { fill, loadWords, words } from '../../words'
import { MergeDialog } from './merge'
import { nameCustomer } from './name'

type User = Schema['User']

const t = await loadWords('users')

interface Props {
  user: User
}

/** The actions on a customer. */
export function CustomerActions({ user }: Props) {
  const [open, setOpen] = useState<'edit' | 'merge' | 'erase' | null>(null)
  const close = () => setOpen(null)
  const init = (format: 'json' | 'html') => ({ params: { path: { id: user.id }, query: { format } } })
  return (
    <>
      <ActionButton operation="updateUser" onClick={() => setOpen('edit')}>
        {t.edit}
      </ActionButton>
      <ExportButton
        operation="exportUser"
        path="/v1/user/{id}/export"
        init={init('json')}
        fileName={`${user.id}.json`}
        label={t.exportJson}
      />
      <ExportButton
        operation="exportUser"
        path="/v1/user/{id}/export"
        init={init('html')}
        fileName={`${user.id}.html`}
        label={t.exportHtml}
      />
      <ActionButton operation="mergeUsers" variant="default" onClick={() => setOpen('merge')}>
        {t.merge}
      </ActionButton>
      <ActionButton
        operation="eraseUser"
        variant="default"

        onClick={() => setOpen('erase')}
      >
        {t.erase}
      </ActionButton>
      {open === 'edit' && <EditCustomer user={user} close={close} />}
      {open === 'merge' && <MergeDialog user={user} close={close} />}
      {open === 'erase' && <EraseDialog user={user} close={close} />}
    </>
  )
}

interface DialogProps extends Props {
  close: () => void
}

const EditCustomer = ({ user, close }: DialogProps) => (
  <EditDialog<User, Pick<User, 'first_name' | 'last_name'> & { email: string; phone_number: string }>
    title={t.editTitle}
    query={getWithEtag('/v1/user/{id}', { params: { path: { id: user.id } } })}
    close={close}
    operation="updateUser"
    labels={{
      first_name: t.firstName,
      last_name: t.lastName,
      email: words.common.email,
      phone_number: words.common.phone,
    }}
    read={({ first_name, last_name, email, phone_number }) => ({
      first_name,
      last_name,
      email: email ?? '',
      phone_number: phone_number ?? '',
    })}
    save={({ email, phone_number, ...others }, headers) =>
      api.PATCH('/v1/user/{id}', {
        params: { path: { id: user.id } },
        body: {
          ...others,
          ...(email !== undefined && { email: email || null }),
          ...(phone_number !== undefined && { phone_number: phone_number || null }),
        },
        headers,
      })
    }
  >
    {(form) => (
      <>
        <SimpleGrid cols={2}>
          <TextInput label={t.firstName} data-autofocus maxLength={80} {...form.getInputProps('first_name')} />
          <TextInput label={t.lastName} maxLength={80} {...form.getInputProps('last_name')} />
        </SimpleGrid>
        <TextInput label={words.common.email} type="email" {...form.getInputProps('email')} />
        <TextInput
          label={words.common.phone}
          type="tel"
          description={t.addressHint}
          {...form.getInputProps('phone_number')}
        />
      </>
    )}
  </EditDialog>
)

function EraseDialog({ user, close }: DialogProps) {
  const name = nameCustomer(user)
  return (
    <FormDialog
      title={t.eraseTitle}
      isOpen
      close={close}
      isDangerous
      submitLabel={t.erase}
      canSubmit={({ typed }) => typed.trim() === name}
      initialValues={{ typed: '', reason: '' }}
      send={({ reason }, headers) =>
        api.POST('/v1/user/{id}/erase', {
          params: { path: { id: user.id } },
          body: reason === '' ? {} : { reason },
          headers,
        })
      }
      onSent={({ data }) =>
        notifications.show({ message: data.status === 'completed' ? t.erased : t.erasing, color: 'teal' })
      }
    >
      {(form) => (
        <Stack gap="sm">
          <Text size="sm">{t.eraseText}</Text>
          <div>
            <Text size="sm" fw={600}>
              {t.eraseStays}
            </Text>
            <List size="sm">
              {Object.values(t.eraseStaysList).map((line) => (
                <List.Item key={line}>{line}</List.Item>
              ))}
            </List>
          </div>
          <Textarea
            label={t.eraseReason}
            description={t.eraseReasonHint}
            maxLength={500}
            autosize
            {...form.getInputProps('reason')}
          />
          <TextInput label={fill(t.eraseType, { name })} required autoComplete="off" {...form.getInputProps('typed')} />
        </Stack>
      )}
    </FormDialog>
  )
}
