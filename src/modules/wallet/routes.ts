import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { issuePass } from './issue.ts'
import { presentIssuedPass, presentWalletPass } from './present.ts'
import { findPass, findPurchaseForPass, listPasses } from './queries.ts'
import { voidPass } from './void.ts'

export { buildWalletRoutes } from './public-routes.ts'

export const walletPassRoutes = createRouter()

mountList(walletPassRoutes, contract.listWalletPasses, {
  load: (ctx, { id }) => findPurchaseForPass(ctx, id),
  list: (ctx, { loaded, query, page }) => listPasses(ctx, loaded.id, page, query),
  present: presentWalletPass,
})

mount(walletPassRoutes, contract.createWalletPass, {
  load: (ctx, { id }) => findPurchaseForPass(ctx, id),
  handle: (ctx, { loaded, body }) => issuePass(ctx, loaded, body),
  present: presentIssuedPass,
})

mount(walletPassRoutes, contract.voidWalletPass, {
  load: (ctx, { id, pass_id }) => findPass(ctx, id, pass_id),
  handle: (ctx, { loaded }) => voidPass(ctx, loaded),
  represent: (loaded) => presentWalletPass(loaded),
})
