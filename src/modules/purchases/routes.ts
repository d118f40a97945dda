import { mount } from '../../http/mount.ts'
import { createRouter } from '../../http/router.ts'
import * as contract from './contract.ts'
import { presentPurchaseDetail } from './present.ts'
import { findPurchase } from './queries.ts'

export const purchases = createRouter()

mount(purchases, contract.getPurchase, {
  load: (ctx, { id }) => findPurchase(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentPurchaseDetail,
})
