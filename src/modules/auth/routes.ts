import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { createToken } from './create-token.ts'
import { presentCreatedToken, presentToken, presentUserInfo } from './present.ts'
import { findToken, listTokens, readUserInfo } from './queries.ts'
import { revokeToken } from './revoke-token.ts'

export const auth = createRouter()

mount(auth, contract.getUserInfo, { handle: (ctx) => readUserInfo(ctx), present: presentUserInfo })

mountList(auth, contract.listAccessTokens, {
  list: (ctx, { query, page }) => listTokens(ctx, page, query),
  present: presentToken,
})

mount(auth, contract.createAccessToken, {
  handle: (ctx, { body }) => createToken(ctx, body),
  present: presentCreatedToken,
})

mount(auth, contract.revokeAccessToken, {
  load: (ctx, { id }) => findToken(ctx, id),
  handle: (ctx, { loaded }) => revokeToken(ctx, loaded),
  represent: (loaded) => presentToken(loaded),
})
