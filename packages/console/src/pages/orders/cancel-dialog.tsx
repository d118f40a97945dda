import { ifUnchanged } from '@event-commerce/client'
import { Checkbox, List, Select, Stack, Text, Textarea } from '@mantine/core'
import { api, type Schema } from '../../api'
import { FormDialog } from '../../parts/form-dialog'
import { formatMoney, loadWords, plural } from '../../words'
import { reasonOptions } from './refund-dialog'
import { sumRemainder } from './refund-max'

const ordersWords = await loadWords('orders')

const t = ordersWords.cancel

interface Values extends Record<string, unknown> {
  acceptUsed: boolean
  refund: boolean
  reason: Schema['RefundRequest']['reason']
  comment: string
  include_fees: boolean
  notify_customer: boolean
}

interface Props {
  order: Schema['OrderDetail']
  etag: string | null
  isOpen: boolean
  close: () => void
}

/** Cancels an order, after it has said what happens. */
export function CancelDialog({ order, etag, isOpen, close }: Props) {
  const { id, purchases, currency } = order
  const open = purchases.filter(({ status }) => status === 'active' || status === 'pending').length
  const used = purchases.filter(({ status }) => status === 'used').length
  const remainder = sumRemainder(order)
  return (
    <FormDialog<Values, unknown>
      title={t.title}
      isOpen={isOpen}
      close={close}
      submitLabel={t.title}
      dismissLabel={t.keep}
      done={t.done}
      isDangerous
      initialValues={{
        acceptUsed: false,
        refund: false,
        reason: 'customer_request',
        comment: '',
        include_fees: false,
        notify_customer: true,
      }}
      canSubmit={({ acceptUsed }) => used === 0 || acceptUsed}
      send={({ acceptUsed, refund, ...values }, headers) =>
        api.POST('/v1/orders/{id}/cancel', {
          params: { path: { id } },
          body: { ...(acceptUsed && { accept: ['used'] }), ...(refund && { refund, ...values }) },
          headers: { ...headers, ...ifUnchanged(etag) },
        })
      }
    >
      {({ values, getInputProps }) => (
        <>
          <List size="sm" spacing={4}>
            <List.Item>{plural(open, t.tickets)}</List.Item>
            <List.Item>{t.passes}</List.Item>
            <List.Item>{t.receipt}</List.Item>
            <List.Item>{values.refund ? t.moneyBack : remainder > 0 ? t.moneyStays : t.noMoney}</List.Item>
            <List.Item>{t.forGood}</List.Item>
          </List>
          {used > 0 && (
            <Checkbox label={plural(used, t.acceptUsed)} {...getInputProps('acceptUsed', { type: 'checkbox' })} />
          )}
          {remainder > 0 && (
            <Checkbox
              label={`${t.refund} (${formatMoney(values.include_fees ? remainder : order.max_available_refund_amount, currency)})`}
              {...getInputProps('refund', { type: 'checkbox' })}
            />
          )}
          {values.refund && (
            <Stack gap="sm" pl="lg">
              {remainder > order.max_available_refund_amount && (
                <Checkbox
                  label={ordersWords.refund.withFees}
                  {...getInputProps('include_fees', { type: 'checkbox' })}
                />
              )}
              <Select
                label={ordersWords.refund.reason}
                data={reasonOptions}
                allowDeselect={false}
                {...getInputProps('reason')}
              />
              <Textarea label={ordersWords.refund.comment} autosize minRows={2} {...getInputProps('comment')} />
              <Checkbox label={ordersWords.refund.notify} {...getInputProps('notify_customer', { type: 'checkbox' })} />
              <Text size="sm" c="dimmed">
                {ordersWords.refund.next}
              </Text>
            </Stack>
          )}
        </>
      )}
    </FormDialog>
  )
}
