import { z } from '@hono/zod-openapi'
import { managers } from '../../domain/accounts/access.ts'
import { currencies } from '../../domain/money.ts'
import { refundStatuses } from '../../domain/refunds/refunds.ts'
import { Amount, Id, RequiredText, Timestamp } from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'

export const RefundSettlement = z
  .object({
    id: Id('rfr'),
    status: z.enum(refundStatuses),
    refunded_amount: Amount(225),
    currency: z.enum(currencies),
    provider_reference: z.string().openapi({ example: 'Transfer 2026-0815' }),
    completed_at: Timestamp,
  })
  .openapi('RefundSettlement')

export const settleRefundRequest = operation({
  id: 'settleRefundRequest',
  tag: 'Refunds',
  ...action('/v1/refund-requests', 'rfr', 'settle'),
  summary: 'Settle a refund request',
  description:
    'Confirms that a refund was paid by hand and completes it. `reference` names the transfer; several refunds may have the same one. Only refunds that are `processing` with the service `manual` can be settled; others get 409 `invalid_transition`.',
  agentAccess: 'confirm',
  roles: managers,
  body: z.object({ reference: RequiredText(200) }),
  example: { reference: 'Transfer 2026-0815' },
  response: RefundSettlement,
  errors: ['invalid_transition'],
})
