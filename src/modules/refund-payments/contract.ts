import { z } from '@hono/zod-openapi'
import { currencies } from '../../domain/money.ts'
import { refundStatuses } from '../../domain/refunds/refunds.ts'
import { Id, IdParams, RequiredText, Timestamp } from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'

export const RefundSettlement = z
  .object({
    id: Id('rfr'),
    status: z.enum(refundStatuses),
    refunded_amount: z.number().openapi({ format: 'double', description: 'Major units.', example: 225 }),
    currency: z.enum(currencies),
    provider_reference: z.string().openapi({ example: 'Transfer 2026-0815' }),
    completed_at: Timestamp,
  })
  .openapi('RefundSettlement')

export const settleRefundRequest = operation({
  id: 'settleRefundRequest',
  tag: 'Refunds',
  method: 'post',
  path: '/v1/refund-requests/{id}/settle',
  summary: 'Settle a refund request',
  description:
    'Confirms that a refund was paid by hand and completes it. `reference` names the transfer; several refunds may have the same one. Only refunds that are `processing` with the service `manual` can be settled; others get 409 `invalid_transition`.',
  roles: ['OA', 'OM', 'EA', 'EM'],
  params: IdParams('rfr'),
  body: z.object({ reference: RequiredText(200) }),
  example: { reference: 'Transfer 2026-0815' },
  response: RefundSettlement,
  errors: ['invalid_transition'],
})
