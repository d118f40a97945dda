import { type SQL, sql } from 'drizzle-orm'
import type { Statement, Database } from '../../db/database.ts'
import { auditLog } from '../../db/schema/audit-log.ts'
import { insert } from '../../db/write.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import { type AuditChange, type NewAuditEntry, refusedTokenAction, refusedTokenIntervalMs } from '../../domain/audit.ts'
import type { IdKind } from '../../domain/ids.ts'

interface AuditedRequest {
  caller: { id: string; credential: Pick<Caller['credential'], 'id'> }
  requestId: string
  now: number
  /** The id of the entry. */
  id: string
}

/** Writes an audit entry, in the transaction of the change. */
export const recordAudit = (request: AuditedRequest, entry: NewAuditEntry): Statement =>
  insert(auditLog, {
    ...entry,
    organization_id: entry.organization_id ?? '',
    id: request.id,
    actor_id: request.caller.id,
    token_id: request.caller.credential.id,
    request_id: request.requestId,
    created_at: request.now,
  })

interface ErasedResource {
  edition_id: string | null
  type: NewAuditEntry['resource_type']
  resource_id: string
  field: string
}

export interface ErasedPerson {
  id: string
  organization_id: string
  /** The account that erases the person. */
  caller_id: string
}

/** The address of an erased person was replaced in a field of this resource. The entry does not repeat the address. */
export const recordErasure = (
  { id, organization_id, caller_id }: ErasedPerson,
  entry: { id: string; now: number },
  { edition_id, type, resource_id, field }: ErasedResource,
): Statement =>
  recordAudit(
    { caller: { id: caller_id, credential: { id: null } }, requestId: id, ...entry },
    {
      action: 'eraseUser',
      organization_id,
      edition_id,
      resource_type: type,
      resource_id,
      changes: [{ field, is_hidden: true }],
    },
  )

/** A change of an account that concerns all its organisations. */
interface AccountChange {
  /** The id of the entries, of which each organisation gets one. */
  id: string
  action: string
  account_id: string
  /** Who made the change. */
  actor_id: string
  /** The token with which the change was made. */
  token_id: string | null
  /** The token or session that changed. */
  resource_id: string
  changes: readonly AuditChange[]
  request_id: string
  at: number
}

const insertForEach = (organizations: SQL, { id, action, ...change }: AccountChange): Statement =>
  sql`insert into audit_log (organization_id, id, action, actor_id, token_id, resource_type, resource_id, changes,
      request_id, created_at)
    select organization_id, ${id}, ${action}, ${change.actor_id}, ${change.token_id}, 'access_token',
      ${change.resource_id}, ${JSON.stringify(change.changes)}, ${change.request_id}, ${change.at}
    from (${organizations})`

const selectOrganizations = (accountId: string): SQL =>
  sql`select distinct organization_id from members where account_id = ${accountId}`

/** Writes an entry for each organisation of the account, in the transaction of the change. */
export const recordForOrganizations = (change: AccountChange): Statement =>
  insertForEach(selectOrganizations(change.account_id), change)

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
 * Records the use of an expired or revoked token, at most once an hour. The entry belongs to the token's organisation, or to
 * every organisation of its owner if it is not bound to one.
 */
export async function recordRefusedToken(db: Database, token: RefusedToken): Promise<void> {
  const { token_id, account_id, organization_id, reason, request_id, at, newId } = token
  const organizations =
    organization_id === null ? selectOrganizations(account_id) : sql`select ${organization_id} as organization_id`
  const use = { account_id, actor_id: account_id, token_id, resource_id: token_id, request_id, at }
  const changes = [{ field: 'refused_for', before: null, after: reason }]
  await db.batch([
    sql`update access_tokens set refused_at = ${at}
      where id = ${token_id} and coalesce(refused_at, 0) <= ${at - refusedTokenIntervalMs}`,
    insertForEach(sql`select * from (${organizations}) where changes() = 1`, {
      ...use,
      id: newId('audit_entry'),
      action: refusedTokenAction,
      changes,
    }),
  ])
}
