import { createRouter, mount } from '../../http/operations/mount.ts'
import { cancelOrder } from './cancel.ts'
import * as contract from './contract.ts'
import { presentCancellation, presentReceipt } from './present.ts'
import { findOrder, presentOrder } from './queries.ts'
import { resendReceipt } from './resend-receipt.ts'

export const orderActionRoutes = createRouter()

mount(orderActionRoutes, contract.cancelOrder, {
  load: (ctx, { id }) => findOrder(ctx, id),
  handle: (ctx, { resource, body }) => cancelOrder(ctx, resource, body),
  represent: (resource, ctx) => presentOrder(resource, ctx),
  present: presentCancellation,
  audit: ({ head, former_status, refund }) => ({
    before: { status: former_status },
    after: { status: head.status, ...(refund ? { refund_request_id: refund.id } : {}) },
  }),
})

mount(orderActionRoutes, contract.resendReceipt, {
  load: (ctx, { id }) => findOrder(ctx, id),
  handle: (ctx, { resource }) => resendReceipt(ctx, resource),
  represent: (resource, ctx) => presentOrder(resource, ctx),
  present: presentReceipt,
})
