import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import { cancelBatch } from './cancel.ts'
import * as contract from './contract.ts'
import { createBatch } from './create.ts'
import { presentBatch } from './present.ts'
import { findBatch, findEdition, listBatches } from './queries.ts'
import { startBatch } from './start.ts'

export const refundBatches = createRouter()

mountList(refundBatches, contract.listRefundBatches, {
  load: (ctx, { id }) => findEdition(ctx, id),
  list: (ctx, { loaded, query, page }) => listBatches(ctx, loaded.id, page, query),
  present: presentBatch,
})

mount(refundBatches, contract.createRefundBatch, {
  load: (ctx, { id }) => findEdition(ctx, id),
  handle: (ctx, { loaded, body }) => createBatch(ctx, loaded, body),
  present: presentBatch,
  location: ({ id }) => `/v1/refund-batches/${id}`,
})

mount(refundBatches, contract.getRefundBatch, {
  load: (ctx, { id }) => findBatch(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentBatch,
})

mount(refundBatches, contract.startRefundBatch, {
  load: (ctx, { id }) => findBatch(ctx, id),
  handle: (ctx, { loaded }) => startBatch(ctx, loaded),
  present: presentBatch,
})

mount(refundBatches, contract.cancelRefundBatch, {
  load: (ctx, { id }) => findBatch(ctx, id),
  handle: (ctx, { loaded }) => cancelBatch(ctx, loaded),
  present: presentBatch,
})
