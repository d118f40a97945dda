import { createRouter, mountList } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { listOrderActivity, listUserActivity, listUserMessages } from './list.ts'
import { presentActivity, presentMessage } from './present.ts'
import { findOrder, findUser } from './queries.ts'

export const activityRoutes = createRouter()

mountList(activityRoutes, contract.listOrderActivity, {
  load: (ctx, { id }) => findOrder(ctx, id),
  list: listOrderActivity,
  present: presentActivity,
})

mountList(activityRoutes, contract.listUserActivity, {
  load: (ctx, { id }) => findUser(ctx, id),
  list: listUserActivity,
  present: presentActivity,
})

mountList(activityRoutes, contract.listUserMessages, {
  load: (ctx, { id }) => findUser(ctx, id),
  list: listUserMessages,
  present: presentMessage,
})
