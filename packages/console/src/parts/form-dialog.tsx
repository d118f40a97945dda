import { Button, Group, Modal, type ModalProps, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { type SendHeaders, useSentForm } from '../form'
import { words } from '../words'
import { Refusal } from './refusal'

interface Props<Values, Result> {
  title: string
  isOpen: boolean
  close: () => void
  initialValues: Values
  send: (values: Values, headers: SendHeaders) => Promise<Result>
  onSent?: (result: Result) => unknown
  /** The text of the notification after success. */
  done?: string
  /** The label of the button that sends. */
  submitLabel: string
  /** The label of the button that closes the dialog, where "Cancel" could be misread. */
  dismissLabel?: string
  /** True if the action cannot be taken back. */
  isDangerous?: boolean
  /** False keeps the button that sends disabled, such as until a name was typed. */
  canSubmit?: (values: Values) => boolean
  size?: ModalProps['size']
  children?: (form: UseFormReturnType<Values>) => ReactNode
}

/** A dialog with a form that is sent by one call. It stays open with the error when the call is refused. */
export const FormDialog = <Values extends Record<string, unknown>, Result>(props: Props<Values, Result>) => (
  <Modal opened={props.isOpen} onClose={props.close} title={props.title} size={props.size ?? 'md'}>
    {/* Modal renders its content anew each time it opens, so the form begins with its first values. */}
    <DialogForm {...props} />
  </Modal>
)

function DialogForm<Values extends Record<string, unknown>, Result>({
  close,
  initialValues,
  send,
  onSent,
  done,
  submitLabel,
  dismissLabel = words.common.cancel,
  isDangerous = false,
  canSubmit = () => true,
  children,
}: Props<Values, Result>) {
  const { form, mutation, submit, shown } = useSentForm({
    initialValues,
    send,
    done,
    onSent: async (result: Result) => {
      close()
      await onSent?.(result)
    },
  })
  return (
    <form onSubmit={submit} noValidate={false}>
      <Stack gap="sm">
        {children?.(form)}
        {mutation.error && <Refusal error={mutation.error} shown={shown} />}
        <Group justify="end" gap="xs">
          <Button variant="default" onClick={close}>
            {dismissLabel}
          </Button>
          <Button
            type="submit"
            loading={mutation.isPending}
            disabled={!canSubmit(form.values)}
            color={isDangerous ? 'red.9' : undefined}
          >
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
