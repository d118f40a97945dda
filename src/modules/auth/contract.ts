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
import { operation } from '../../http/operations/operation.ts'
import { type ListRequest, ListPage, listQuery } from '../../http/requests/list-query.ts'

const Scope = z.enum(tokenScopes)

const Scopes = z.array(Scope).min(1).max(tokenScopes.length)
const TokenName = RequiredText(100).openapi({ example: 'Box office' })

const tokenFields = {
  id: Id('tok'),
  name: TokenName,
  kind: z
    .enum(['personal', 'service'])
    .openapi({ description: '`service`: the token works in one organisation only.' }),
  organization_id: Id('org').nullable().openapi({
    description:
      'The only organisation in which the token works. Null when it works in all organisations of its owner.',
  }),
  prefix: z
    .string()
    .max(tokenPreviewLength)
    .openapi({ description: 'The first characters of the token, by which you can recognise it.', example: 'ecm_Ab3d' }),
  scopes: Scopes,
  created: Timestamp,
  expires_at: Timestamp.nullable().openapi({ description: 'Null when the token does not expire.' }),
  last_used_at: Timestamp.nullable().openapi({ description: 'Null until the token is used.' }),
}

export const AccessToken = z.object(tokenFields).openapi('AccessToken')

export const CreatedAccessToken = z
  .object({
    ...tokenFields,
    token: z.string().openapi({ description: 'The token. You cannot retrieve it again.', example: 'ecm_…' }),
  })
  .openapi('CreatedAccessToken')

/** More editions than these are only counted. */
export const maxListedEditions = 200

export const UserInfo = z
  .object({
    id: z.string().openapi({
      example: 'usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
      description:
        'The account, the member for a token that is bound to an organisation, or `root` for the superuser of the platform.',
    }),
    email: KnownEmail.nullable().openapi({ description: 'Null for a service token and for the superuser.' }),
    first_name: PersonName,
    last_name: PersonName,
    full_name: FullName,
    is_superuser: z.boolean(),
    date_joined: Timestamp.nullable().openapi({
      description: 'Null when the caller has no account: a service token or the superuser.',
    }),
    last_seen: Timestamp.nullable().openapi({
      description: 'Null when the caller has no account or was never seen.',
    }),
    token: z.object({
      id: Id('tok').nullable().openapi({
        description: 'Null when the token is not stored here: the superuser, or a token of the identity provider.',
      }),
      kind: z.enum(['personal', 'service', 'oidc', 'root']),
      name: z.string().nullable().openapi({
        description: 'Null when the token is not stored here: the superuser, or a token of the identity provider.',
      }),
      prefix: z
        .string()
        .max(tokenPreviewLength)
        .nullable()
        .openapi({ description: 'Null when the token is not stored here.' }),
      scopes: Scopes,
      created: Timestamp.nullable().openapi({ description: 'Null when the token is not stored here.' }),
      expires_at: Timestamp.nullable().openapi({ description: 'Null when the token does not expire.' }),
      last_used_at: Timestamp.nullable().openapi({ description: 'Null until the token is used.' }),
    }),
    organizations: z.array(
      z.object({
        id: Id('org'),
        name: Name,
        slug: Slug,
        avatar: orNull(Image).openapi({ description: 'Null when the organisation has no avatar.' }),
        role: z
          .enum(memberRoles)
          .nullable()
          .openapi({ description: 'Null when you have roles only in editions of the organisation.' }),
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
      .max(maxListedEditions)
      .openapi({ description: 'The editions that you can reach, newest first.' }),
    editions_count: Count,
  })
  .openapi('UserInfo')

export const getUserInfo = operation({
  id: 'getUserInfo',
  tag: 'Auth',
  method: 'get',
  path: '/v1/auth/user-info',
  summary: 'Get user info',
  description: 'Returns who you are, with which token, and what you can reach. Use it to check whether a token works.',
  roles: roleCodes,
  response: UserInfo,
})

export const listAccessTokens = operation({
  id: 'listAccessTokens',
  tag: 'Auth',
  method: 'get',
  path: '/v1/auth/tokens',
  summary: 'List access tokens',
  description: 'Returns your own tokens that are still valid.',
  roles: roleCodes,
  query: listQuery({ ordering: ['created', 'name'], filters: {} }),
  response: ListPage(AccessToken),
})

export type TokenQuery = ListRequest<typeof listAccessTokens.query>

const CreateAccessToken = z.object({
  name: TokenName,
  member_id: Id('mem').optional().openapi({
    description:
      'Creates the token for this member. You must be an admin of the organisation, and the token works only there.',
  }),
  scopes: Scopes.optional(),
  expires_at: InstantOrNull.optional().openapi({
    description:
      'By default the token expires after a year, or together with your own token if that is sooner. It cannot outlive your own token. Only an organisation admin can create a token for more than 365 days, or, with null, one that does not expire. In a session of the identity provider you can create tokens for at most 90 days as an admin, 180 as a manager and 365 as a viewer.',
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
    'Creates a token for yourself, or, as an organisation admin or the superuser, for a member. You see the token only once. It stops working with the token that created it, and a token for another member also with the membership of the admin who created it.',
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
    'Revokes one of your tokens, or, as an organisation admin, a token that is bound to the organisation. It takes effect at once, also for the tokens that it created, and cannot be undone.',
  roles: roleCodes,
  status: 204,
  params: IdParams('tok'),
})
