import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { createAccessToken } from './create-token.ts'
import { listAccessTokens } from './list.ts'
import { presentCreatedToken, presentToken, presentUserInfo } from './present.ts'
import { findToken, readUserInfo } from './queries.ts'
import { revokeAccessToken } from './revoke-token.ts'

export const authRoutes = createRouter()

mount(authRoutes, contract.getUserInfo, { handle: (ctx) => readUserInfo(ctx), present: presentUserInfo })

mountList(authRoutes, contract.listAccessTokens, {
  list: listAccessTokens,
  present: presentToken,
})

mount(authRoutes, contract.createAccessToken, {
  handle: (ctx, { body }) => createAccessToken(ctx, body),
  present: presentCreatedToken,
})

mount(authRoutes, contract.revokeAccessToken, {
  load: (ctx, { id }) => findToken(ctx, id),
  handle: (ctx, { resource }) => revokeAccessToken(ctx, resource),
  represent: (resource) => presentToken(resource),
})
