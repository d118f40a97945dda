import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { accessTokens } from '../../db/schema/auth.ts'
import { insert } from '../../db/write.ts'
import { tokenScopes } from '../../domain/accounts/access.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import { doesNotExist, fieldError, invalid, parameterError, permissionDenied } from '../../domain/errors.ts'
import { toIso } from '../../domain/time/instants.ts'
import { maxGeneration, type TokenGrant, decideTokenEnd } from '../../domain/accounts/token-lifetimes.ts'
import { generateToken, tokenPreviewLength } from '../../domain/accounts/tokens.ts'
import type { CreateAccessTokenInput } from './contract.ts'
import { type AccessTokenRow, administrators, callingToken, findMember } from './queries.ts'

/** The account of the token, the organisation that it is bound to, and the membership that its minter mints it by. */
async function ownerOf(ctx: Ctx, memberId: string | undefined) {
  const { caller } = ctx
  if (memberId === undefined) {
    if (caller.is_superuser)
      throw invalid(fieldError(['member_id'], 'required', 'The superuser has no account: name a member.'))
    return { account_id: caller.id, organization_id: caller.credential.organization_id, minter_member_id: null }
  }
  const member = await findMember(ctx, memberId)
  if (!member) throw doesNotExist('member_id')
  const { account_id, organization_id, minter_member_id } = member
  return { account_id, organization_id, minter_member_id }
}

function endOf(asked: number | null | undefined, minting: TokenGrant): number | null {
  if (asked && asked <= minting.now) throw invalid(fieldError(['expires_at'], 'in_past', 'This time is past.'))
  const end = decideTokenEnd(asked, minting)
  if (end.isAllowed) return end.at
  if (end.latest === null)
    throw permissionDenied(administrators, [
      fieldError(
        ['expires_at'],
        'admin_only',
        'A token without an end needs an admin of each organisation it reaches.',
      ),
    ])
  throw invalid(fieldError(['expires_at'], 'too_late', `At the latest ${toIso(end.latest)}.`))
}

function scopesOf({ caller }: Ctx, asked: CreateAccessTokenInput['scopes']): string {
  if (asked?.some((scope) => !caller.scopes.includes(scope)))
    throw invalid(fieldError(['scopes'], 'scope_not_held', 'A token can give only scopes that it has itself.'))
  return tokenScopes.filter((scope) => (asked ?? caller.scopes).includes(scope)).join(' ')
}

export async function createToken(
  ctx: Ctx,
  input: CreateAccessTokenInput,
): Promise<AccessTokenRow & { token: string }> {
  const { caller } = ctx
  const now = ctx.now()
  const scopes = scopesOf(ctx, input.scopes)
  const [owner, minter] = await Promise.all([ownerOf(ctx, input.member_id), callingToken(ctx)])
  const generation = minter ? minter.generation + 1 : 0
  if (generation > maxGeneration)
    throw invalid(
      parameterError(null, 'too_many_generations', `At most ${maxGeneration} tokens mint one another in a chain.`),
    )
  const minting = { caller, organization_id: owner.organization_id, parentExpiresAt: minter?.expires_at ?? null, now }
  const token = generateToken(ctx.randomBytes, ctx.config.cell)
  const row: AccessTokenRow = {
    id: ctx.newId('access_token'),
    ...owner,
    name: input.name,
    token_hash: toHex(await sha256(token)),
    prefix: token.slice(0, tokenPreviewLength),
    scopes,
    created_at: now,
    expires_at: endOf(input.expires_at, minting),
    revoked_at: null,
    last_used_at: null,
    parent_id: caller.credential.id,
    generation,
    refused_at: null,
  }
  return commit(ctx, { ...row, token }, [insert(accessTokens, row)])
}
