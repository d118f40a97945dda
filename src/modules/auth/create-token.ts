import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { accessTokens } from '../../db/schema/auth.ts'
import { insert } from '../../db/write.ts'
import { mayAt, type RoleCode, tokenScopes } from '../../domain/access.ts'
import { sha256, toHex } from '../../domain/encoding.ts'
import { doesNotExist, fieldError, invalid, permissionDenied } from '../../domain/errors.ts'
import { dayMs } from '../../domain/instants.ts'
import { mintToken, shownLength } from '../../domain/tokens.ts'
import type { CreateAccessTokenInput } from './contract.ts'
import { type AccessTokenRow, findMember } from './queries.ts'

const administrators: readonly RoleCode[] = ['OA']

const defaultLifetimeMs = 365 * dayMs

/** Whose the token will be, and the one organisation that it is bound to. */
async function ownerOf(ctx: Ctx, memberId: string | undefined) {
  const { caller } = ctx
  if (memberId === undefined) {
    if (caller.is_superuser)
      throw invalid(fieldError(['member_id'], 'required', 'The superuser has no account: name a member.'))
    return { account_id: caller.id, organization_id: caller.credential.organization_id }
  }
  const member = await findMember(ctx, memberId)
  if (!member) throw doesNotExist('member_id')
  if (!mayAt(caller, administrators, { organization_id: member.organization_id, editions: [] }))
    throw permissionDenied(administrators)
  return { account_id: member.account_id, organization_id: member.organization_id }
}

export async function createToken(
  ctx: Ctx,
  input: CreateAccessTokenInput,
): Promise<AccessTokenRow & { token: string }> {
  const { caller } = ctx
  const now = ctx.now()
  if (input.expires_at && input.expires_at <= now)
    throw invalid(fieldError(['expires_at'], 'in_past', 'This time is past.'))
  if (input.scopes?.some((scope) => !caller.scopes.includes(scope)))
    throw invalid(fieldError(['scopes'], 'scope_not_held', 'Only scopes of the token that asks.'))
  const scopes = tokenScopes.filter((scope) => (input.scopes ?? caller.scopes).includes(scope))
  const owner = await ownerOf(ctx, input.member_id)
  const token = mintToken(ctx.randomBytes)
  const row: AccessTokenRow = {
    id: ctx.newId('access_token'),
    ...owner,
    name: input.name,
    token_hash: toHex(await sha256(token)),
    shown: token.slice(0, shownLength),
    scopes: scopes.join(' '),
    created_at: now,
    expires_at: input.expires_at === undefined ? now + defaultLifetimeMs : input.expires_at,
    revoked_at: null,
    last_used_at: null,
    refused_at: null,
  }
  return commit(ctx, { ...row, token }, [insert(accessTokens, row)])
}
