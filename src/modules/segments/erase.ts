import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { segments } from '../../db/schema/segments.ts'
import { updateVersion } from '../../db/write.ts'
import { type ErasedContacts, eraseContacts, eraseInExpression } from '../../domain/erasure.ts'
import { recordAudit } from '../audit-log/index.ts'

interface SearchedSegment {
  id: string
  edition_id: string | null
  version: number
  expression: string
  error_message: string
}

const columns = sql.raw('id, edition_id, version, expression, error_message')

/**
 * Replaces the addresses of an erased person in the expressions of the organisation's segments. Members and status
 * stay: for everybody else the expression means what it meant. Repeating it changes nothing.
 */
export async function eraseInSegments(
  job: JobCtx,
  erasure: { id: string; organization_id: string; caller_id: string },
  contacts: ErasedContacts,
): Promise<void> {
  const { organization_id } = erasure
  const rows = await job.db.all(
    sql<SearchedSegment>`select ${columns} from segments
        where organization_id = ${organization_id} and deleted_at is null
      union all select ${columns} from segments where organization_id = ${organization_id} and deleted_at is not null`,
  )
  const now = job.now()
  const statements = rows.flatMap((row) => {
    const expression = eraseInExpression(row.expression, contacts)
    const error_message = eraseContacts(row.error_message, contacts)
    if (expression === row.expression && error_message === row.error_message) return []
    return [
      ...updateVersion(segments, row, { expression, error_message, modified_at: now }),
      recordAudit(
        {
          caller: { id: erasure.caller_id, credential: { id: null } },
          requestId: erasure.id,
          now,
          id: job.newId('audit_entry'),
        },
        {
          action: 'eraseUser',
          organization_id,
          edition_id: row.edition_id,
          resource_type: 'segment',
          resource_id: row.id,
          changes: [{ field: 'expression', is_hidden: true }],
        },
      ),
    ]
  })
  if (statements.length > 0) await job.db.batch(statements)
}
