import { createRouter, mount, mountList } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { createPurchaseRefundRequest, createRefundRequest } from './create.ts'
import { approveRefundRequest, retryRefundRequest } from './decisions/approve.ts'
import { cancelRefundRequest } from './decisions/cancel.ts'
import { rejectRefundRequest } from './decisions/reject.ts'
import { listRefundRequests } from './list.ts'
import { presentRefund } from './present.ts'
import { findRefund } from './queries.ts'
import { findPurchaseTenant } from './refundable-order.ts'

export const refundRoutes = createRouter()

const location = ({ id }: { id: string }) => `/v1/refund-requests/${id}`

mount(refundRoutes, contract.createPurchaseRefundRequest, {
  load: (ctx, { id }) => findPurchaseTenant(ctx, id),
  handle: (ctx, { resource, body }) => createPurchaseRefundRequest(ctx, resource.purchase_id, body),
  present: presentRefund,
  location,
})

mountList(refundRoutes, contract.listRefundRequests, {
  list: listRefundRequests,
  present: presentRefund,
})

mount(refundRoutes, contract.createRefundRequest, {
  handle: (ctx, { body }) => createRefundRequest(ctx, body),
  present: presentRefund,
  location,
})

mount(refundRoutes, contract.getRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentRefund,
})

mount(refundRoutes, contract.approveRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: (ctx, { resource, body }) => approveRefundRequest(ctx, resource, body),
  present: presentRefund,
})

mount(refundRoutes, contract.rejectRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: (ctx, { resource, body }) => rejectRefundRequest(ctx, resource, body),
  present: presentRefund,
})

mount(refundRoutes, contract.cancelRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: (ctx, { resource }) => cancelRefundRequest(ctx, resource),
  present: presentRefund,
})

mount(refundRoutes, contract.retryRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: (ctx, { resource }) => retryRefundRequest(ctx, resource),
  present: presentRefund,
})
