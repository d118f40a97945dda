import type { Statement } from '../../db/database.ts'
import { auditLog } from '../../db/schema/audit-log.ts'
import { insert } from '../../db/write.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import type { AuditEntry } from '../../domain/audit.ts'

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
