import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { segments } from '../../db/schema/segments.ts'
import { updateVersion } from '../../db/write.ts'
import { type ErasedContacts, eraseContacts, eraseInExpression } from '../../domain/erasure.ts'
import { type ErasedPerson, recordErasure } from '../audit-log/index.ts'

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
export async function eraseInSegments(job: JobCtx, erasure: ErasedPerson, contacts: ErasedContacts): Promise<void> {
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
      recordErasure(
        erasure,
        { id: job.newId('audit_entry'), now: job.now() },
        { edition_id: row.edition_id, type: 'segment', resource_id: row.id, field: 'expression' },
      ),
    ]
  })
  if (statements.length > 0) await job.db.batch(statements)
}
