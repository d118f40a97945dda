import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { createSession } from './create-session.ts'
import { createSignInLink } from './create-sign-in-link.ts'
import { createAccessToken } from './create-token.ts'
import { listAccessTokens } from './list.ts'
import * as organizationTokens from './organization-tokens/contract.ts'
import { listOrganizationTokens } from './organization-tokens/list.ts'
import { presentOrganizationToken } from './organization-tokens/present.ts'
import { findOrganization, findOrganizationToken } from './organization-tokens/queries.ts'
import { revokeOrganizationToken } from './organization-tokens/revoke.ts'
import {
  presentCreatedToken,
  presentSession,
  presentSignInCode,
  presentSignInLink,
  presentToken,
  presentUserInfo,
} from './present.ts'
import { findToken, readUserInfo } from './queries.ts'
import { requestSignInCode } from './request-code.ts'
import { revokeAccessToken } from './revoke-token.ts'
import { listAuthMethods } from './sign-in-methods.ts'

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

mount(authRoutes, contract.listAuthMethods, { handle: (ctx) => listAuthMethods(ctx), present: (methods) => methods })

mount(authRoutes, contract.requestSignInCode, {
  handle: (ctx, { body, header }) => requestSignInCode(ctx, body, header('cf-connecting-ip')),
  present: presentSignInCode,
})

mount(authRoutes, contract.createSession, {
  handle: (ctx, { body, header }) => createSession(ctx, body, header('cf-access-jwt-assertion')),
  present: presentSession,
})

mount(authRoutes, contract.createSignInLink, {
  handle: (ctx, { body }) => createSignInLink(ctx, body.member_id),
  present: presentSignInLink,
})

mountList(authRoutes, organizationTokens.listOrganizationTokens, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  list: listOrganizationTokens,
  present: presentOrganizationToken,
})

mount(authRoutes, organizationTokens.revokeOrganizationToken, {
  load: (ctx, { id, token_id }) => findOrganizationToken(ctx, id, token_id),
  handle: (ctx, { resource }) => revokeOrganizationToken(ctx, resource),
  represent: (resource) => presentOrganizationToken(resource),
})
