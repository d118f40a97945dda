import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { listPurchases } from './list.ts'
import { presentPurchaseDetail, presentPurchaseListItem, presentUseResult } from './present.ts'
import { findPurchase } from './queries.ts'
import { createPurchaseUse } from './uses/create-use.ts'
import { revertPurchaseUse } from './uses/revert-use.ts'
import { findUsablePurchase, findUse } from './uses/use-queries.ts'

export const purchaseRoutes = createRouter()

mountList(purchaseRoutes, contract.listPurchases, {
  list: listPurchases,
  present: presentPurchaseListItem,
})

mount(purchaseRoutes, contract.getPurchase, {
  load: (ctx, { id }) => findPurchase(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentPurchaseDetail,
})

mount(purchaseRoutes, contract.createPurchaseUse, {
  load: (ctx, { id }) => findUsablePurchase(ctx, id),
  handle: (ctx, { loaded, body }) => createPurchaseUse(ctx, loaded, body),
  present: presentUseResult,
  location: ({ purchase }) => `/v1/purchases/${purchase.id}`,
})

mount(purchaseRoutes, contract.revertPurchaseUse, {
  load: (ctx, { id, use_id }) => findUse(ctx, id, use_id),
  handle: (ctx, { loaded }) => revertPurchaseUse(ctx, loaded),
  present: presentUseResult,
})
