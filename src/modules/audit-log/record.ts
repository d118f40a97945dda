import type { Statement, Database } from '../../db/database.ts'
import { auditLog } from '../../db/schema/audit-log.ts'
import { insert } from '../../db/write.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import { type AuditEntry, refusedTokenAction, refusedTokenIntervalMs } from '../../domain/audit.ts'
import { sql } from 'drizzle-orm'
import type { IdKind } from '../../domain/ids.ts'

interface AuditedRequest {
  caller: { id: string; credential: Pick<Caller['credential'], 'id'> }
  requestId: string
  now: number
  /** The time of the entry. */
  id: string
}

/** The statement that writes an entry, for the transaction of the change. */
export const auditStatement = (request: AuditedRequest, entry: AuditEntry): Statement =>
  insert(auditLog, {
    ...entry,
    organization_id: entry.organization_id ?? '',
    id: request.id,
    actor_id: request.caller.id,
    token_id: request.caller.credential.id,
    request_id: request.requestId,
    created_at: request.now,
  })

interface RefusedToken {
  token_id: string
  account_id: string
  organization_id: string | null
  reason: 'revoked' | 'expired'
  request_id: string
  at: number
  newId: (kind: IdKind) => string
}

/**
 * Records that a token was used after its end, once an hour at most. The entry goes to the organisation that it is
 * bound to, else in each organisation of its owner.
 */
export async function recordRefusedToken(db: Database, refused: RefusedToken): Promise<void> {
  const { token_id, account_id, organization_id, reason, request_id, at, newId } = refused
  const places =
    organization_id === null
      ? sql`select distinct organization_id from members where account_id = ${account_id}`
      : sql`select ${organization_id} as organization_id`
  await db.batch([
    sql`update access_tokens set refused_at = ${at}
      where id = ${token_id} and coalesce(refused_at, 0) <= ${at - refusedTokenIntervalMs}`,
    sql`insert into audit_log (organization_id, id, action, actor_id, token_id, resource_type, resource_id, changes,
        request_id, created_at)
      select organization_id, ${newId('audit_entry')}, ${refusedTokenAction}, ${account_id}, ${token_id},
        'access_token', ${token_id}, ${JSON.stringify([{ field: 'refused_for', before: null, after: reason }])},
        ${request_id}, ${at}
      from (${places}) where changes() = 1`,
  ])
}
