import type { Schema } from '../../api'
import { loadWords } from '../../words'
import { sumRemainder } from './refund-max'

const ordersWords = await loadWords('orders')

type Order = Schema['OrderDetail']
type Action = Order['allowed_actions'][number]

const t = ordersWords.refusals

const explain: Readonly<Record<Action, (order: Order) => string>> = {
  refund: (order) =>
    order.transactions.length === 0 ? t.nothingPaid : sumRemainder(order) > 0 ? t.notNow : t.nothingLeft,
  cancel: ({ status }) => (status === 'cancelled' ? t.cancelled : t.notNow),
  resend_receipt: ({ status, customer }) =>
    status !== 'completed' && status !== 'confirmed' ? t.noReceipt : customer.email === null ? t.noEmail : t.notNow,
}

/** Tells why the API does not offer an action on the order. Null if it does. */
export function explainRefusal(order: Order, action: Action, isArchived: boolean): string | null {
  if (order.allowed_actions.includes(action)) return null
  return isArchived ? t.archived : explain[action](order)
}
