import { mount, mountFile, mountList, createRouter } from '../../http/operations/mount.ts'
import { restrictToRoles } from '../../http/operations/permission.ts'
import * as contract from './contract.ts'
import { exportPurchases, findExportTarget } from './export.ts'
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

// This path comes before `/v1/purchases/{id}`, which would match it.
mountFile(purchaseRoutes, contract.exportPurchases, {
  load: (ctx, _, query) => findExportTarget(restrictToRoles(ctx, contract.exportPurchases), query),
  handle: (ctx, { resource, query }) => exportPurchases(ctx, resource, query),
})

mount(purchaseRoutes, contract.getPurchase, {
  load: (ctx, { id }) => findPurchase(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentPurchaseDetail,
})

mount(purchaseRoutes, contract.createPurchaseUse, {
  load: (ctx, { id }) => findUsablePurchase(ctx, id),
  handle: (ctx, { resource, body }) => createPurchaseUse(ctx, resource, body),
  present: presentUseResult,
  location: ({ purchase }) => `/v1/purchases/${purchase.id}`,
})

mount(purchaseRoutes, contract.revertPurchaseUse, {
  load: (ctx, { id, use_id }) => findUse(ctx, id, use_id),
  handle: (ctx, { resource }) => revertPurchaseUse(ctx, resource),
  present: presentUseResult,
})
