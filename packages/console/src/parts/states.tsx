import type { Schema } from '../api'
import { words } from '../words'
import { Status, type Tone } from './status'

type PurchaseState = Schema['Purchase']['status']
type RefundState = Schema['RefundRequest']['status']
type EmailState = Schema['OrderDetail']['emails'][number]['status']

const purchaseTones: Record<PurchaseState, Tone> = {
  pending: 'act',
  active: 'good',
  used: 'wait',
  refunded: 'none',
  expired: 'none',
  cancelled: 'none',
}
const refundTones: Record<RefundState, Tone> = {
  pending: 'act',
  approved: 'wait',
  processing: 'wait',
  completed: 'good',
  failed: 'bad',
  rejected: 'none',
  cancelled: 'none',
}
const emailTones: Record<EmailState, Tone> = { pending: 'wait', sent: 'good', failed: 'bad' }

export const PurchaseStatus = ({ status }: { status: PurchaseState }) => (
  <Status tone={purchaseTones[status]} label={words.states.purchase[status]} />
)
export const RefundStatus = ({ status }: { status: RefundState }) => (
  <Status tone={refundTones[status]} label={words.states.refund[status]} />
)
export const EmailStatus = ({ status }: { status: EmailState }) => (
  <Status tone={emailTones[status]} label={words.states.email[status]} />
)
