import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { parseScopes, pickStrongerRole } from '../../domain/accounts/access.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { buildImageOrNull } from '../../domain/files/addresses.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import type { AccessToken, CreatedAccessToken, CreatedSession, SignInCode, SignInLink, UserInfo } from './contract.ts'
import type { NewSession } from './create-session.ts'
import type { NewSignInLink } from './create-sign-in-link.ts'
import type { AccessTokenRow, UserInfoRows } from './queries.ts'
import type { RequestedCode } from './request-code.ts'

function getTokenKind(row: Pick<AccessTokenRow, 'organization_id' | 'is_session'>) {
  if (row.is_session) return 'session' as const
  return row.organization_id === null ? ('personal' as const) : ('service' as const)
}

export const presentToken = (row: AccessTokenRow): z.input<typeof AccessToken> => ({
  id: row.id,
  name: row.name,
  kind: getTokenKind(row),
  organization_id: row.organization_id,
  prefix: row.prefix,
  scopes: parseScopes(row.scopes),
  created: toIso(row.created_at),
  expires_at: toIsoOrNull(row.expires_at),
  last_used_at: toIsoOrNull(row.last_used_at),
  signed_in_at: toIsoOrNull(row.signed_in_at),
})

export const presentCreatedToken = (row: AccessTokenRow & { token: string }): z.input<typeof CreatedAccessToken> => ({
  ...presentToken(row),
  token: row.token,
})

export const presentSession = (session: NewSession): z.input<typeof CreatedSession> => ({
  ...presentToken(session),
  email: session.email,
  token: session.token,
})

export const presentSignInCode = ({ id, expires_at }: RequestedCode): z.input<typeof SignInCode> => ({
  request_id: id,
  expires_at: toIso(expires_at),
})

export const presentSignInLink = (link: NewSignInLink): z.input<typeof SignInLink> => ({
  id: link.id,
  member_id: link.member_id,
  organization_id: link.organization_id,
  email: link.email,
  sign_in_url: link.sign_in_url,
  created: toIso(link.created_at),
  expires_at: toIso(link.expires_at),
})

export function presentUserInfo(rows: UserInfoRows, ctx: Ctx): z.input<typeof UserInfo> {
  const { caller } = ctx
  const { account, token } = rows
  const kind = token ? getTokenKind(token) : caller.is_superuser ? 'root' : 'oidc'
  const roleIn = (organization: string, edition: string | null) =>
    caller.grants.find((grant) => grant.organization_id === organization && grant.edition_id === edition)?.role
  const names = { first_name: account?.first_name ?? '', last_name: account?.last_name ?? '' }
  return {
    id: account?.id ?? caller.credential.id ?? caller.id,
    email: caller.email,
    ...names,
    full_name: formatFullName(names),
    is_superuser: caller.is_superuser,
    date_joined: toIsoOrNull(account?.created_at ?? null),
    last_seen: toIsoOrNull(account?.last_seen_at ?? null),
    token: {
      id: token?.id ?? null,
      kind,
      name: token?.name ?? (caller.credential.kind === 'previous_root' ? 'ROOT_TOKEN_PREVIOUS' : null),
      prefix: token?.prefix ?? null,
      scopes: [...caller.scopes],
      created: toIsoOrNull(token?.created_at ?? null),
      expires_at: toIsoOrNull(token?.expires_at ?? null),
      last_used_at: toIsoOrNull(token?.last_used_at ?? null),
      signed_in_at: toIsoOrNull(token?.signed_in_at ?? null),
    },
    organizations: rows.organizations.map(({ id, name, slug, avatar_id, avatar_key }) => ({
      id,
      name,
      slug,
      avatar: buildImageOrNull(ctx.config.files.url, avatar_id, avatar_key),
      role: caller.is_superuser ? 'admin' : (roleIn(id, null) ?? null),
    })),
    editions: rows.editions.map(({ id, full_name, slug, organization_id }) => {
      const ownRole = roleIn(organization_id, id)
      const inheritedRole = caller.is_superuser ? 'admin' : roleIn(organization_id, null)
      const role =
        inheritedRole && ownRole ? pickStrongerRole(inheritedRole, ownRole) : (inheritedRole ?? ownRole ?? 'viewer')
      const source = role === inheritedRole ? 'organization' : 'edition'
      return { id, full_name, slug, organization_id, role, source }
    }),
    editions_count: rows.editions_count,
  }
}
