import { mount, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { presentSettlement } from './present.ts'
import { findRefund, settleRefund } from './provider/settle.ts'

export { paymentEvents } from './public-routes.ts'

export const refundPayments = createRouter()

mount(refundPayments, contract.settleRefundRequest, {
  load: (ctx, { id }) => findRefund(ctx, id),
  handle: (ctx, { loaded, body }) => settleRefund(ctx, loaded, body.reference),
  present: presentSettlement,
  represent: (loaded) => presentSettlement(loaded),
})
