import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { toIso } from '../../domain/time/instants.ts'
import { presentRefund } from '../refunds/index.ts'
import { presentEmailState } from '../transactional-emails/index.ts'
import type { CancelledOrder } from './cancel.ts'
import type { OrderCancellation, ResentReceipt } from './contract.ts'
import type { SentReceipt } from './resend-receipt.ts'

export const presentCancellation = (
  { head, cancelled_purchases, used_purchases, refund }: CancelledOrder,
  ctx: Ctx,
): z.input<typeof OrderCancellation> => ({
  order: {
    id: head.id,
    order_number: head.order_number,
    status: head.status,
    modified: toIso(head.modified_at),
  },
  cancelled_purchases,
  used_purchases,
  refund_request: refund && presentRefund(refund, ctx),
})

export const presentReceipt = (
  { order, recipient, language, receipt }: SentReceipt,
  ctx: Ctx,
): z.input<typeof ResentReceipt> => ({
  order: { id: order.id, order_number: order.order_number },
  recipient,
  language,
  ...presentEmailState(receipt, ctx),
})
