import { Checkbox, NumberInput, Select, Text, Textarea } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../../api'
import { FormDialog } from '../../parts/form-dialog'
import { formatMoney, loadWords, words } from '../../words'

const ordersWords = await loadWords('orders')

const t = ordersWords.refund
type Reason = Schema['RefundRequest']['reason']

export interface RefundTarget {
  /** The name of what is refunded. */
  name: string
  body: { order_id: string } | { purchase_id: string }
  currency: string
  /** The most that can be paid back. */
  findMax: (withFees: boolean) => number
}

interface Values extends Record<string, unknown> {
  amount: number | string
  include_fees: boolean
  reason: Reason
  comment: string
  cancel_purchase: boolean
  notify_customer: boolean
}

/** The reasons as the options of a field. */
export const reasonOptions = Object.entries(words.states.refundReasons).map(([value, label]) => ({ value, label }))

interface Props {
  edition: string
  target: RefundTarget
  isOpen: boolean
  close: () => void
}

/** Requests a refund of an order or a ticket. */
export function RefundDialog({ edition, target, isOpen, close }: Props) {
  const navigate = useNavigate()
  const { name, body, findMax } = target
  return (
    <FormDialog<Values, Schema['RefundRequest']>
      title={`${t.title}: ${name}`}
      isOpen={isOpen}
      close={close}
      submitLabel={t.send}
      done={t.sent}
      initialValues={{
        amount: findMax(false),
        include_fees: false,
        reason: 'customer_request',
        comment: '',
        cancel_purchase: false,
        notify_customer: true,
      }}
      canSubmit={({ amount, cancel_purchase }) => Number(amount) > 0 || cancel_purchase}
      send={async ({ amount, ...values }, headers) => {
        // Without an amount the service refunds all that is left at that moment.
        const part =
          Number(amount) === findMax(values.include_fees) && Number(amount) > 0 ? {} : { amount: Number(amount) }
        const { data } = await api.POST('/v1/refund-requests', { body: { ...body, ...values, ...part }, headers })
        return data
      }}
      onSent={({ id }) => navigate({ to: '/editions/$edition/refunds/$refund', params: { edition, refund: id } })}
    >
      {(form) => <RefundFields form={form} target={target} />}
    </FormDialog>
  )
}

function RefundFields({ form, target }: { form: UseFormReturnType<Values>; target: RefundTarget }) {
  const { currency, findMax } = target
  const withFees = form.values.include_fees
  const max = findMax(withFees)
  const fees = Math.round((findMax(true) - findMax(false)) * 100) / 100
  const changeFees = (next: boolean) => {
    // A smaller amount is the choice of the person.
    if (Number(form.values.amount) >= max) form.setFieldValue('amount', findMax(next))
    form.setFieldValue('include_fees', next)
  }
  return (
    <>
      <NumberInput
        label={words.common.amount}
        description={`${t.max}: ${formatMoney(max, currency)}`}
        suffix={` ${currency.toUpperCase()}`}
        min={0}
        max={max}
        decimalScale={2}
        clampBehavior="strict"
        hideControls
        required
        data-autofocus
        {...form.getInputProps('amount')}
      />
      {fees > 0 && (
        <Checkbox
          label={`${t.withFees} (${formatMoney(fees, currency)})`}
          checked={withFees}
          onChange={(event) => changeFees(event.currentTarget.checked)}
        />
      )}
      <Select label={t.reason} data={reasonOptions} allowDeselect={false} {...form.getInputProps('reason')} />
      <Textarea label={t.comment} description={t.commentHint} autosize minRows={2} {...form.getInputProps('comment')} />
      <Checkbox
        label={'order_id' in target.body ? t.cancelTickets : t.cancelTicket}
        description={t.cancelHint}
        {...form.getInputProps('cancel_purchase', { type: 'checkbox' })}
      />
      <Checkbox label={t.notify} {...form.getInputProps('notify_customer', { type: 'checkbox' })} />
      <Text size="sm" c="dimmed">
        {t.next}
      </Text>
    </>
  )
}
