import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { accessTokens } from '../../db/schema/accounts.ts'
import { insert } from '../../db/write.ts'
import { hasSignedIn, tokenScopes } from '../../domain/accounts/access.ts'
import { recentSignInMs } from '../../domain/accounts/sign-in.ts'
import { maxGeneration, type TokenGrant, decideTokenEnd } from '../../domain/accounts/token-lifetimes.ts'
import { AppError, doesNotExist, fieldError, invalid, parameterError, permissionDenied } from '../../domain/errors.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { CreateAccessTokenInput } from './contract.ts'
import { mintToken } from './mint-token.ts'
import {
  type AccessTokenRow,
  adminRoles,
  type CallingToken,
  canListMember,
  findCallingToken,
  findManagedMember,
} from './queries.ts'

/** The owner of the new token: its account, its organisation, and the membership that allows the caller to create it. */
async function findOwner(ctx: Ctx, memberId: string | undefined) {
  const { caller } = ctx
  if (memberId === undefined) {
    if (caller.is_superuser)
      throw invalid(fieldError(['member_id'], 'required', 'The superuser has no account. Send `member_id`.'))
    return { account_id: caller.id, organization_id: caller.credential.organization_id, minter_member_id: null }
  }
  const member = await findManagedMember(ctx, memberId)
  if (!member)
    throw (await canListMember(ctx, memberId))
      ? permissionDenied(adminRoles, [
          fieldError(
            ['member_id'],
            'admin_only',
            'Only an admin of the organisation can create tokens for its members.',
          ),
        ])
      : doesNotExist('member_id')
  const { account_id, organization_id, minter_member_id } = member
  return { account_id, organization_id, minter_member_id }
}

function decideEnd(requestedEnd: number | null | undefined, grant: TokenGrant): number | null {
  if (requestedEnd && requestedEnd <= grant.now)
    throw invalid(fieldError(['expires_at'], 'in_past', 'Must be in the future.'))
  const end = decideTokenEnd(requestedEnd, grant)
  if (end.isAllowed) return end.at
  if (end.latestEnd === null)
    throw permissionDenied(adminRoles, [
      fieldError(
        ['expires_at'],
        'admin_only',
        'Only an admin of every organisation that the token reaches can create a token that does not expire.',
      ),
    ])
  throw invalid(fieldError(['expires_at'], 'too_late', `Must not be after ${toIso(end.latestEnd)}.`))
}

function decideScopes({ caller }: Ctx, requestedScopes: CreateAccessTokenInput['scopes']): string {
  if (requestedScopes?.some((scope) => !caller.scopes.includes(scope)))
    throw invalid(fieldError(['scopes'], 'scope_not_held', 'You can give only scopes that your own token has.'))
  return tokenScopes.filter((scope) => (requestedScopes ?? caller.scopes).includes(scope)).join(' ')
}

/** A stolen session must not become a token that outlives it. */
function requireRecentSignIn({ caller, now }: Ctx): void {
  const { signed_in_at } = caller.credential
  if (!hasSignedIn(caller) || (signed_in_at !== null && signed_in_at > now() - recentSignInMs)) return
  throw new AppError(
    'recent_sign_in_required',
    signed_in_at === null
      ? 'Your identity provider does not say when you signed in. Sign in by a code or a link to create an access token, or let the provider send `auth_time`.'
      : `You signed in more than ${recentSignInMs / 60_000} minutes ago. Sign in again to create an access token.`,
  )
}

/** The token that the new one ends with. A new token outlives the session in which it is created. */
const findParent = async (ctx: Ctx): Promise<CallingToken | undefined> =>
  ctx.caller.credential.kind === 'session' ? undefined : findCallingToken(ctx)

export async function createAccessToken(
  ctx: Ctx,
  input: CreateAccessTokenInput,
): Promise<AccessTokenRow & { token: string }> {
  requireRecentSignIn(ctx)
  const { caller } = ctx
  const now = ctx.now()
  const scopes = decideScopes(ctx, input.scopes)
  const [owner, parent] = await Promise.all([findOwner(ctx, input.member_id), findParent(ctx)])
  const generation = parent ? parent.generation + 1 : 0
  if (generation > maxGeneration)
    throw invalid(
      parameterError(
        null,
        'too_many_generations',
        `A chain of tokens that create each other can have at most ${maxGeneration} tokens.`,
      ),
    )
  const grant = { caller, organization_id: owner.organization_id, parentExpiresAt: parent?.expires_at ?? null, now }
  const { row, token } = await mintToken(ctx, {
    ...owner,
    name: input.name,
    scopes,
    expires_at: decideEnd(input.expires_at, grant),
    parent_id: parent ? caller.credential.id : null,
    generation,
    is_session: false,
    signed_in_at: null,
  })
  return commit(ctx, { ...row, token }, [insert(accessTokens, row)])
}
