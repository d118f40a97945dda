import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { createWalletPass } from './create.ts'
import { listWalletPasses } from './list.ts'
import { presentIssuedPass, presentWalletPass } from './present.ts'
import { findPass, findPurchaseForPass } from './queries.ts'
import { voidWalletPass } from './void.ts'

export { buildWalletRoutes } from './public-routes.ts'

export const walletPassRoutes = createRouter()

mountList(walletPassRoutes, contract.listWalletPasses, {
  load: (ctx, { id }) => findPurchaseForPass(ctx, id),
  list: listWalletPasses,
  present: presentWalletPass,
})

mount(walletPassRoutes, contract.createWalletPass, {
  load: (ctx, { id }) => findPurchaseForPass(ctx, id),
  handle: (ctx, { resource, body }) => createWalletPass(ctx, resource, body),
  present: presentIssuedPass,
})

mount(walletPassRoutes, contract.voidWalletPass, {
  load: (ctx, { id, pass_id }) => findPass(ctx, id, pass_id),
  handle: (ctx, { resource }) => voidWalletPass(ctx, resource),
  represent: (resource, ctx) => presentWalletPass(resource, ctx),
})
