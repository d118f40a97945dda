import { Text } from '@mantine/core'
import { api, type Schema } from '../../api'
import { FormDialog } from '../../parts/form-dialog'
import { loadWords } from '../../words'

const ordersWords = await loadWords('orders')

const t = ordersWords.receipt

interface Props {
  order: Schema['OrderDetail']
  isOpen: boolean
  close: () => void
}

/** Sends the receipt of an order again. */
export const ReceiptDialog = ({ order, isOpen, close }: Props) => (
  <FormDialog
    title={t.title}
    isOpen={isOpen}
    close={close}
    submitLabel={t.send}
    done={t.sent}
    initialValues={{}}
    send={(_, headers) => api.POST('/v1/orders/{id}/resend-receipt', { params: { path: { id: order.id } }, headers })}
  >
    {() => (
      <Text size="sm">
        {t.hint} <b>{order.customer.email}</b>
      </Text>
    )}
  </FormDialog>
)
