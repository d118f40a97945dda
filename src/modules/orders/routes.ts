import { mount, mountFile, mountList, createRouter } from '../../http/operations/mount.ts'
import { restrictToRoles } from '../../http/operations/permission.ts'
import * as contract from './contract.ts'
import { findOrder } from './detail.ts'
import { exportOrders, findExportTarget } from './export.ts'
import { listOrders } from './list.ts'
import { presentOrder, presentOrderListItem } from './present.ts'

export const orderRoutes = createRouter()

mountList(orderRoutes, contract.listOrders, {
  list: listOrders,
  present: presentOrderListItem,
})

// This path comes before `/v1/orders/{id}`, which would match it.
mountFile(orderRoutes, contract.exportOrders, {
  load: (ctx, _, query) => findExportTarget(restrictToRoles(ctx, contract.exportOrders), query),
  handle: (ctx, { resource, query }) => exportOrders(ctx, resource, query),
})

mount(orderRoutes, contract.getOrder, {
  load: (ctx, { id }) => findOrder(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentOrder,
})
