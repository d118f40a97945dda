import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import { approveRefund } from './decisions/approve.ts'
import { cancelRefund } from './decisions/cancel.ts'
import * as contract from './contract.ts'
import { createPurchaseRefund, createRefund } from './create.ts'
import { presentRefund } from './present.ts'
import { listRefunds } from './list.ts'
import { findRefund } from './queries.ts'
import { rejectRefund } from './decisions/reject.ts'
import { retryRefund } from './decisions/retry.ts'
import { findPurchaseTenant } from './subject.ts'

export const refunds = createRouter()

const location = ({ id }: { id: string }) => `/v1/refund-requests/${id}`

mount(refunds, contract.createPurchaseRefundRequest, {
  load: (ctx, { id }) => findPurchaseTenant(ctx, id),
  handle: (ctx, { loaded, body }) => createPurchaseRefund(ctx, loaded.purchase_id, body),
  present: presentRefund,
  location,
})

mountList(refunds, contract.listRefundRequests, {
  list: (ctx, { query, filters, page }) => listRefunds(ctx, page, query.ordering, filters),
  present: presentRefund,
})

mount(refunds, contract.createRefundRequest, {
  handle: (ctx, { body }) => createRefund(ctx, body),
  present: presentRefund,
  location,
})

mount(refunds, contract.getRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentRefund,
})

mount(refunds, contract.approveRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: (ctx, { loaded, body }) => approveRefund(ctx, loaded, body),
  present: presentRefund,
})

mount(refunds, contract.rejectRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: (ctx, { loaded, body }) => rejectRefund(ctx, loaded, body),
  present: presentRefund,
})

mount(refunds, contract.cancelRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: (ctx, { loaded }) => cancelRefund(ctx, loaded),
  present: presentRefund,
})

mount(refunds, contract.retryRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: (ctx, { loaded }) => retryRefund(ctx, loaded),
  present: presentRefund,
})
