import { Alert, Checkbox, Group, NumberInput, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { api, type Schema } from '../../api'
import type { SendHeaders } from '../../form'
import type { Operation } from '../../generated/roles'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { fill, formatMoney, loadWords } from '../../words'
import { readFourEyes, usePolicy } from './use-policy'

type Refund = Schema['RefundRequest']
type Action = Refund['allowed_actions'][number]

const t = await loadWords('refunds')

const operations: Record<Action, Operation> = {
  approve: 'approveRefundRequest',
  reject: 'rejectRefundRequest',
  cancel: 'cancelRefundRequest',
  retry: 'retryRefundRequest',
  settle: 'settleRefundRequest',
}
const quiet: readonly Action[] = ['reject', 'cancel']

interface DialogProps {
  refund: Refund
  close: () => void
}

const path = ({ id }: Refund) => ({ path: { id } })
const amountOf = (refund: Refund): string =>
  formatMoney(refund.approved_amount ?? refund.requested_amount, refund.currency)

function ApproveDialog({ refund, close }: DialogProps) {
  const policy = usePolicy()
  const max = formatMoney(refund.requested_amount, refund.currency)
  return (
    <FormDialog
      title={t.approveTitle}
      isOpen
      close={close}
      submitLabel={t.approve}
      done={t.done.approve}
      initialValues={{
        amount: refund.requested_amount,
        note: '',
        cancel_purchase: refund.cancel_purchase,
        notify_customer: refund.notify_customer,
      }}
      send={({ note, ...others }, headers) =>
        api.POST('/v1/refund-requests/{id}/approve', {
          params: path(refund),
          body: { ...others, note: note || null },
          headers,
        })
      }
    >
      {(form) => (
        <>
          <Text size="sm">{t.approveText}</Text>
          {typeof policy?.manager_limit === 'number' && (
            <Text size="sm">{fill(t.limit, { amount: formatMoney(policy.manager_limit, refund.currency) })}</Text>
          )}
          <NumberInput
            label={`${t.amountField} (${refund.currency.toUpperCase()})`}
            description={fill(t.amountHint, { amount: max })}
            required
            min={0}
            max={refund.requested_amount}
            decimalScale={2}
            {...form.getInputProps('amount')}
          />
          <Textarea label={t.noteField} autosize minRows={2} maxLength={2000} {...form.getInputProps('note')} />
          <Checkbox label={t.cancelField} {...form.getInputProps('cancel_purchase', { type: 'checkbox' })} />
          <Checkbox label={t.notifyField} {...form.getInputProps('notify_customer', { type: 'checkbox' })} />
        </>
      )}
    </FormDialog>
  )
}

const RejectDialog = ({ refund, close }: DialogProps) => (
  <FormDialog
    title={t.rejectTitle}
    isOpen
    close={close}
    isDangerous
    submitLabel={t.reject}
    done={t.done.reject}
    initialValues={{ reason: '', notify_customer: refund.notify_customer }}
    send={(body, headers) => api.POST('/v1/refund-requests/{id}/reject', { params: path(refund), body, headers })}
  >
    {(form) => (
      <>
        <Text size="sm">{t.rejectText}</Text>
        <Textarea
          label={t.rejectReason}
          required
          data-autofocus
          autosize
          minRows={2}
          maxLength={2000}
          {...form.getInputProps('reason')}
        />
        <Checkbox label={t.rejectNotifyField} {...form.getInputProps('notify_customer', { type: 'checkbox' })} />
      </>
    )}
  </FormDialog>
)

const SettleDialog = ({ refund, close }: DialogProps) => (
  <FormDialog
    title={t.settle}
    isOpen
    close={close}
    submitLabel={t.settle}
    done={t.done.settle}
    initialValues={{ reference: '' }}
    send={(body, headers) => api.POST('/v1/refund-requests/{id}/settle', { params: path(refund), body, headers })}
  >
    {(form) => (
      <>
        <Text size="sm">{fill(t.settleText, { amount: amountOf(refund) })}</Text>
        <TextInput
          label={t.reference}
          description={t.referenceHint}
          required
          data-autofocus
          maxLength={200}
          {...form.getInputProps('reference')}
        />
      </>
    )}
  </FormDialog>
)

interface PlainProps extends DialogProps {
  action: 'cancel' | 'retry'
}

function PlainDialog({ refund, close, action }: PlainProps) {
  const send = {
    cancel: (headers: SendHeaders) => api.POST('/v1/refund-requests/{id}/cancel', { params: path(refund), headers }),
    retry: (headers: SendHeaders) => api.POST('/v1/refund-requests/{id}/retry', { params: path(refund), headers }),
  }[action]
  return (
    <FormDialog
      title={t[action]}
      isOpen
      close={close}
      submitLabel={t[action]}
      done={t.done[action]}
      isDangerous={action === 'cancel'}
      initialValues={{}}
      send={(_, headers) => send(headers)}
    >
      {() => (
        <Text size="sm">{action === 'cancel' ? t.cancelText : fill(t.retryText, { amount: amountOf(refund) })}</Text>
      )}
    </FormDialog>
  )
}

const dialogs: Record<Action, (props: DialogProps) => ReactNode> = {
  approve: ApproveDialog,
  reject: RejectDialog,
  settle: SettleDialog,
  cancel: (props) => <PlainDialog {...props} action="cancel" />,
  retry: (props) => <PlainDialog {...props} action="retry" />,
}

/** The actions that somebody with the role would see. A viewer sees them disabled, with the roles that may act. */
const expectedActions: Partial<Record<Refund['status'], readonly Action[]>> = {
  pending: ['approve', 'reject'],
  failed: ['retry'],
}

interface Props {
  refund: Refund
  size?: string
  /** The actions that are offered. Default: all. */
  only?: readonly Action[]
}

/** The buttons for what can be done with the refund now. Each opens a dialog that says what will happen. */
export function RefundActions({ refund, size = 'sm', only }: Props) {
  const [open, setOpen] = useState<Action | null>(null)
  const policy = usePolicy()
  const { allowed_actions: allowed } = refund
  const offered = allowed.length > 0 ? allowed : (expectedActions[refund.status] ?? [])
  const actions = offered.filter((action) => !only || only.includes(action))
  const reason = readFourEyes(policy, refund.is_own)
  const Dialog = open && dialogs[open]
  return (
    <Group gap="xs" wrap="nowrap">
      {actions.map((action) => (
        <ActionButton
          key={action}
          size={size}
          operation={operations[action]}
          variant={
            quiet.includes(action) || (action === 'approve' && refund.status === 'failed') ? 'default' : 'filled'
          }
          reason={action === 'approve' || action === 'retry' ? reason : null}
          onClick={() => setOpen(action)}
        >
          {t[action]}
        </ActionButton>
      ))}
      {Dialog && <Dialog refund={refund} close={() => setOpen(null)} />}
    </Group>
  )
}

/** Says what the provider answered, and what to do. */
export function FailureNotice({ refund }: { refund: Refund }) {
  if (refund.failure_code === null) return null
  const texts: Readonly<Record<string, string>> = t.failures
  return (
    <Alert color="red" variant="outline" title={t.failedStep} role="alert">
      <Stack gap={4}>
        <Text size="sm">{texts[refund.failure_code] ?? t.failureOther}</Text>
        {refund.failure_message && (
          <Text size="sm" c="dimmed" className="break">
            {t.providerSaid}: {refund.failure_message}
          </Text>
        )}
      </Stack>
    </Alert>
  )
}
