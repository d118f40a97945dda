import { z } from '@hono/zod-openapi'
import { memberRoles, roleCodes, tokenScopes } from '../../domain/accounts/access.ts'
import { tokenPreviewLength } from '../../domain/accounts/tokens.ts'
import {
  Count,
  FullName,
  Id,
  IdParams,
  Image,
  InstantOrNull,
  KnownEmail,
  Name,
  orNull,
  PersonName,
  RequiredText,
  Slug,
  Timestamp,
} from '../../http/fields.ts'
import { type ListRequest, ListPage, listQuery } from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'

const Scope = z.enum(tokenScopes)

const Scopes = z.array(Scope).min(1).max(tokenScopes.length)
const TokenName = RequiredText(100).openapi({ example: 'Box office' })

const tokenFields = {
  id: Id('tok'),
  name: TokenName,
  kind: z.enum(['personal', 'service']).openapi({ description: 'A service token is bound to one organisation.' }),
  organization_id: Id('org')
    .nullable()
    .openapi({ description: 'The only organisation it works in; null for all of its owner.' }),
  prefix: z
    .string()
    .max(tokenPreviewLength)
    .openapi({ description: 'The first characters, to recognise the token by.', example: 'ecm_Ab3d' }),
  scopes: Scopes,
  created: Timestamp,
  expires_at: Timestamp.nullable().openapi({ description: 'Null when it does not end by itself.' }),
  last_used_at: Timestamp.nullable().openapi({ description: 'Null until it is used.' }),
}

export const AccessToken = z.object(tokenFields).openapi('AccessToken')

export const CreatedAccessToken = z
  .object({
    ...tokenFields,
    token: z.string().openapi({ description: 'Shown here and never again.', example: 'ecm_…' }),
  })
  .openapi('CreatedAccessToken')

/** More editions than these are counted and not listed. */
export const editionsShown = 200

export const UserInfo = z
  .object({
    id: z.string().openapi({
      example: 'usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
      description:
        'The account; for a token bound to an organisation its member; `root` for the superuser of the platform.',
    }),
    email: KnownEmail.nullable().openapi({ description: 'Null for a service token and for the superuser.' }),
    first_name: PersonName,
    last_name: PersonName,
    full_name: FullName,
    is_superuser: z.boolean(),
    date_joined: Timestamp.nullable().openapi({
      description: 'Null for a caller without an account: a service token, or the superuser.',
    }),
    last_seen: Timestamp.nullable().openapi({
      description: 'Null for a caller without an account, and before it was seen.',
    }),
    token: z.object({
      id: Id('tok').nullable().openapi({
        description: 'Null for a caller without a stored token: of the identity provider, or the superuser.',
      }),
      kind: z.enum(['personal', 'service', 'oidc', 'root']),
      name: z.string().nullable().openapi({
        description: 'Null for a caller without a stored token: of the identity provider, or the superuser.',
      }),
      prefix: z
        .string()
        .max(tokenPreviewLength)
        .nullable()
        .openapi({ description: 'Null for a caller without a stored token.' }),
      scopes: Scopes,
      created: Timestamp.nullable().openapi({ description: 'Null for a caller without a stored token.' }),
      expires_at: Timestamp.nullable().openapi({ description: 'Null when it does not end by itself.' }),
      last_used_at: Timestamp.nullable().openapi({ description: 'Null until it is used.' }),
    }),
    organizations: z.array(
      z.object({
        id: Id('org'),
        name: Name,
        slug: Slug,
        avatar: orNull(Image).openapi({ description: 'Null while none is chosen.' }),
        role: z.enum(memberRoles).nullable().openapi({ description: 'Null when only editions of it are reached.' }),
      }),
    ),
    editions: z
      .array(
        z.object({
          id: Id('edt'),
          full_name: z.string(),
          slug: Slug,
          organization_id: Id('org'),
          role: z.enum(memberRoles),
          source: z.enum(['organization', 'edition']),
        }),
      )
      .max(editionsShown)
      .openapi({ description: 'The newest first.' }),
    editions_count: Count,
  })
  .openapi('UserInfo')

export const getUserInfo = operation({
  id: 'getUserInfo',
  tag: 'Auth',
  method: 'get',
  path: '/v1/auth/user-info',
  summary: 'Get user info',
  description: 'Who calls, with which token, and what it reaches. The cheap way to see whether a token works.',
  roles: roleCodes,
  response: UserInfo,
})

export const listAccessTokens = operation({
  id: 'listAccessTokens',
  tag: 'Auth',
  method: 'get',
  path: '/v1/auth/tokens',
  summary: 'List access tokens',
  description: "The caller's own tokens that still work.",
  roles: roleCodes,
  query: listQuery({ ordering: ['created', 'name'], filters: {} }),
  response: ListPage(AccessToken),
})

export type TokenQuery = ListRequest<typeof listAccessTokens.query>

const CreateAccessToken = z.object({
  name: TokenName,
  member_id: Id('mem').optional().openapi({
    description: 'For this member, by an admin of its organisation: the token works in that organisation only.',
  }),
  scopes: Scopes.optional(),
  expires_at: InstantOrNull.optional().openapi({
    description:
      'Without it a year from now, or the end of the token that asks where that is sooner. Later than that end is refused. Null, a token that does not expire, and more than 365 days need an organisation admin with a token that does not expire. Of a session of the identity provider: at most 90 days for admins, 180 for managers, 365 for viewers.',
  }),
})

export type CreateAccessTokenInput = z.output<typeof CreateAccessToken>

export const createAccessToken = operation({
  id: 'createAccessToken',
  tag: 'Auth',
  method: 'post',
  path: '/v1/auth/tokens',
  summary: 'Create an access token',
  description:
    'For the caller, or, by an organisation admin or the superuser, for a member. The token is shown once. It ends with the token that minted it, and, for another member, with the membership of the admin who minted it.',
  roles: roleCodes,
  status: 201,
  body: CreateAccessToken,
  example: { name: 'Box office', scopes: ['read'] },
  response: CreatedAccessToken,
})

export const revokeAccessToken = operation({
  id: 'revokeAccessToken',
  tag: 'Auth',
  method: 'delete',
  path: '/v1/auth/tokens/{id}',
  summary: 'Revoke an access token',
  description:
    'Takes effect at once and for good, also for the tokens that it minted. Own tokens; an organisation admin also those that are bound to the organisation.',
  roles: roleCodes,
  status: 204,
  params: IdParams('tok'),
})
