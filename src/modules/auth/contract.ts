import { z } from '@hono/zod-openapi'
import { memberRoles, roleCodes, tokenScopes } from '../../domain/accounts/access.ts'
import { signInCodeLength, signInMethods } from '../../domain/accounts/sign-in.ts'
import { tokenPreviewLength } from '../../domain/accounts/tokens.ts'
import {
  AccountEmail,
  Count,
  FullName,
  Id,
  IdParams,
  Image,
  InstantOrNull,
  KnownEmail,
  LanguageInput,
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

const SignedInAt = Timestamp.nullable().openapi({
  description:
    'When the person of a session signed in. Null if the identity provider does not say it, and for other tokens.',
})

const tokenFields = {
  id: Id('tok'),
  name: TokenName,
  kind: z
    .enum(['personal', 'service', 'session'])
    .openapi({ description: '`service`: the token works in one organisation only. `session`: somebody signed in.' }),
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
  signed_in_at: SignedInAt,
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
      kind: z.enum(['personal', 'service', 'session', 'oidc', 'root']),
      name: z.string().nullable().openapi({
        description:
          'Null when the token is not stored here: the superuser, or a token of the identity provider. `ROOT_TOKEN_PREVIOUS` for the previous token of the superuser.',
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
      signed_in_at: SignedInAt,
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
  description: 'Returns your own tokens and sessions that are still valid.',
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
      'By default the token expires after a year, or together with your own token if that is sooner. It cannot outlive your own token. Only an organisation admin can create a token for more than 365 days, or, with null, one that does not expire. In a session, or with a token of the identity provider, you can create tokens for at most 90 days as an admin, 180 as a manager and 365 as a viewer.',
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
    'Creates a token for yourself, or, as an organisation admin or the superuser, for a member. You see the token only once. It stops working with the token that created it, and a token for another member also when the admin who created it is no admin any more. A token that you create in a session outlives the session. Sign in at most 10 minutes before; a token of the identity provider must say so in `auth_time`.',
  agentAccess: 'none',
  roles: roleCodes,
  status: 201,
  errors: ['recent_sign_in_required'],
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
    'Revokes one of your tokens or sessions, or, as an organisation admin, a token that is bound to the organisation. It takes effect at once, also for the tokens that a token created, and cannot be undone. To sign out, revoke your session.',
  agentAccess: 'confirm',
  roles: roleCodes,
  status: 204,
  params: IdParams('tok'),
})

export const AuthMethods = z
  .object({
    methods: z.array(z.enum(signInMethods)).openapi({
      description:
        'The ways to get a session: a code by e-mail, a link, a token of the identity provider, and Cloudflare Access.',
    }),
    issuer: z.string().nullable().openapi({
      description: 'The OpenID Connect issuer. Null when tokens of an issuer are not accepted.',
      example: 'https://login.example.com',
    }),
    client_id: z.string().nullable().openapi({
      description: 'The id with which a console signs in at the issuer. Null when none is configured.',
      example: 'event-console',
    }),
  })
  .openapi('AuthMethods')

export const listAuthMethods = operation({
  id: 'listAuthMethods',
  tag: 'Auth',
  method: 'get',
  path: '/v1/auth/methods',
  summary: 'List the ways to sign in',
  description: 'Returns the ways to sign in to this service that are configured and allowed.',
  roles: [],
  isPublic: true,
  response: AuthMethods,
})

export const SignInCode = z
  .object({
    request_id: Id('sic').openapi({ description: 'Send it with the code.' }),
    expires_at: Timestamp,
  })
  .openapi('SignInCode')

const RequestSignInCode = z.object({
  email: AccountEmail.openapi({ example: 'ingrid@example.dk' }),
  language: LanguageInput.default('en').openapi({ description: 'The language of the e-mail.' }),
})

export type RequestSignInCodeInput = z.output<typeof RequestSignInCode>

export const requestSignInCode = operation({
  id: 'requestSignInCode',
  tag: 'Auth',
  method: 'post',
  path: '/v1/auth/sign-in-codes',
  summary: 'Request a code to sign in',
  description:
    'Sends a code of 8 digits to the address, if a member has it. The response is the same for every address. The code works once, for 10 minutes, and ends after five wrong tries. At most five codes an hour are sent to an address, and at most twenty are requested from a network; further requests send nothing.',
  agentAccess: 'none',
  roles: [],
  isPublic: true,
  status: 201,
  errors: ['sign_in_method_unavailable'],
  body: RequestSignInCode,
  example: { email: 'ingrid@example.dk', language: 'en' },
  response: SignInCode,
})

const SignInSecret = z.string().min(1).max(100)
const IdentityToken = z.string().min(1).max(20_000)

const CreateSession = z
  .object({
    request_id: Id('sic').optional(),
    code: z
      .string()
      .max(40)
      .overwrite((text) => text.replaceAll(/\s/g, ''))
      .regex(/^\d{8}$/, `Must have ${signInCodeLength} digits.`)
      .optional()
      .openapi({ description: 'The code of the e-mail. Requires `request_id`.', example: '20481632' }),
    link: SignInSecret.optional().openapi({ description: 'What follows `#link=` in the address of a sign-in link.' }),
    identity_token: IdentityToken.optional().openapi({
      description: 'An ID token or access token of the OpenID Connect issuer.',
    }),
    name: TokenName.optional().openapi({ description: 'Names the session in lists.', example: 'Laptop' }),
  })
  .superRefine(({ request_id, code, link, identity_token }, context) => {
    const addError = (name: string, errorCode: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], params: { code: errorCode }, message })
    if (code !== undefined && request_id === undefined) addError('request_id', 'required', 'This field is required.')
    if (request_id !== undefined && code === undefined) addError('code', 'required', 'This field is required.')
    const [, secondSecret] = Object.entries({ code, link, identity_token }).filter(([, secret]) => secret !== undefined)
    if (secondSecret)
      addError(secondSecret[0], 'exactly_one_secret', 'Send only one of `code`, `link` and `identity_token`.')
  })

export type CreateSessionInput = z.output<typeof CreateSession>

export const CreatedSession = z
  .object({
    ...tokenFields,
    email: KnownEmail.openapi({ description: 'The address of the member who signed in.' }),
    token: z
      .string()
      .openapi({ description: 'The token of the session. You cannot retrieve it again.', example: 'ecm_…' }),
  })
  .openapi('CreatedSession')

export const createSession = operation({
  id: 'createSession',
  tag: 'Auth',
  method: 'post',
  path: '/v1/auth/sessions',
  summary: 'Sign in',
  description:
    'Creates a session from exactly one of: a code with its `request_id`, a sign-in link, and a token of the OpenID Connect issuer. Without them, the header `Cf-Access-Jwt-Assertion` of Cloudflare Access is used. Send the token of the session like an access token. A session lasts 12 hours, and ends when the member is removed or the session is revoked with `revokeAccessToken`.',
  agentAccess: 'none',
  roles: [],
  isPublic: true,
  status: 201,
  errors: ['sign_in_failed', 'sign_in_method_unavailable', 'identity_unavailable'],
  body: CreateSession,
  example: { request_id: 'sic_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', code: '20481632' },
  response: CreatedSession,
})

export const SignInLink = z
  .object({
    id: Id('sil'),
    member_id: Id('mem'),
    organization_id: Id('org'),
    email: KnownEmail,
    sign_in_url: z.string().openapi({
      description: 'Signs the member in once. You cannot retrieve it again.',
      example: 'https://events.example.com/console#link=…',
    }),
    created: Timestamp,
    expires_at: Timestamp,
  })
  .openapi('SignInLink')

const CreateSignInLink = z.object({ member_id: Id('mem') })

export const createSignInLink = operation({
  id: 'createSignInLink',
  tag: 'Auth',
  method: 'post',
  path: '/v1/auth/sign-in-links',
  summary: 'Create a sign-in link',
  description:
    'Creates a link that signs a member in once within an hour, for members who get no e-mails. Whoever has the link can use it, so give it to the member alone.',
  agentAccess: 'none',
  roles: [],
  status: 201,
  errors: ['sign_in_method_unavailable'],
  body: CreateSignInLink,
  example: { member_id: 'mem_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' },
  response: SignInLink,
})
