import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { findOrder } from './detail.ts'
import { listOrders } from './list.ts'
import { presentOrder, presentOrderListItem } from './present.ts'

export const orderRoutes = createRouter()

mountList(orderRoutes, contract.listOrders, {
  list: listOrders,
  present: presentOrderListItem,
})

mount(orderRoutes, contract.getOrder, {
  load: (ctx, { id }) => findOrder(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentOrder,
})
