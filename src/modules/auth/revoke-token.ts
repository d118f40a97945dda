import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { accessTokens } from '../../db/schema/accounts.ts'
import { update } from '../../db/write.ts'
import { recordForOrganizations } from '../audit-log/index.ts'
import type { AccessTokenRow } from './queries.ts'

/** Every organisation in which a session was seen to begin sees its end. */
function recordSignOut(ctx: Ctx, session: AccessTokenRow): Statement[] {
  if (!session.is_session) return []
  const entry = recordForOrganizations({
    id: ctx.newId('audit_entry'),
    action: 'revokeAccessToken',
    account_id: session.account_id,
    actor_id: ctx.caller.id,
    token_id: ctx.caller.credential.id,
    resource_id: session.id,
    changes: [],
    request_id: ctx.requestId,
    at: ctx.now(),
  })
  return [entry]
}

/** Revoking a token again keeps the first time. */
export const revokeAccessToken = (ctx: Ctx, token: AccessTokenRow): Promise<null> => {
  const revoke = update(accessTokens, { revoked_at: ctx.now() }, sql`id = ${token.id} and revoked_at is null`)
  return commit(ctx, null, token.revoked_at === null ? [revoke, requireOneChange(), ...recordSignOut(ctx, token)] : [])
}
