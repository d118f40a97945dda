import { createRouter, mount, mountList } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { createRefundBatch } from './create.ts'
import { listRefundBatches } from './list.ts'
import { presentBatch } from './present.ts'
import { findBatch, findEditionForBatch } from './queries.ts'
import { cancelRefundBatch, startRefundBatch } from './transitions.ts'

export const refundBatchRoutes = createRouter()

mountList(refundBatchRoutes, contract.listRefundBatches, {
  load: (ctx, { id }) => findEditionForBatch(ctx, id),
  list: listRefundBatches,
  present: presentBatch,
})

mount(refundBatchRoutes, contract.createRefundBatch, {
  load: (ctx, { id }) => findEditionForBatch(ctx, id),
  handle: (ctx, { resource, body }) => createRefundBatch(ctx, resource, body),
  present: presentBatch,
  location: ({ id }) => `/v1/refund-batches/${id}`,
})

mount(refundBatchRoutes, contract.getRefundBatch, {
  load: (ctx, { id }) => findBatch(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentBatch,
})

mount(refundBatchRoutes, contract.startRefundBatch, {
  load: (ctx, { id }) => findBatch(ctx, id),
  handle: (ctx, { resource }) => startRefundBatch(ctx, resource),
  present: presentBatch,
})

mount(refundBatchRoutes, contract.cancelRefundBatch, {
  load: (ctx, { id }) => findBatch(ctx, id),
  handle: (ctx, { resource }) => cancelRefundBatch(ctx, resource),
  present: presentBatch,
})
