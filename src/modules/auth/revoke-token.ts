import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { accessTokens } from '../../db/schema/accounts.ts'
import { update } from '../../db/write.ts'
import type { AccessTokenRow } from './queries.ts'

/** Revoking a token again keeps the first time. */
export const revokeAccessToken = (ctx: Ctx, token: AccessTokenRow): Promise<null> => {
  const revoke = update(accessTokens, { revoked_at: ctx.now() }, sql`id = ${token.id} and revoked_at is null`)
  return commit(ctx, null, token.revoked_at === null ? [revoke, requireOneChange()] : [])
}
