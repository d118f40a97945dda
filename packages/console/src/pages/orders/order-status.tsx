import type { Schema } from '../../api'
import { Status, type Tone } from '../../parts/status'
import { loadWords } from '../../words'

const ordersWords = await loadWords('orders')

type OrderStatusCode = Schema['OrderListItem']['status']

const tones: Record<OrderStatusCode, Tone> = { pending: 'act', confirmed: 'wait', completed: 'good', cancelled: 'none' }

export const OrderStatus = ({ status }: { status: OrderStatusCode }) => (
  <Status tone={tones[status]} label={ordersWords.statuses[status]} />
)
