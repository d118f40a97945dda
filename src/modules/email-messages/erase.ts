import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { requireOneChange } from '../../db/commit.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { select } from '../../db/select.ts'
import { update } from '../../db/write.ts'
import { listConditions, mapConditions } from '../../domain/email/blocks/conditions.ts'
import { type ErasedContacts, eraseInExpression } from '../../domain/erasure.ts'
import { type ErasedPerson, recordErasure } from '../audit-log/index.ts'

/**
 * Replaces the addresses of an erased person in the conditions of blocks. For everybody else the conditions mean what
 * they meant. Repeating it changes nothing.
 */
export async function eraseInConditions(job: JobCtx, erasure: ErasedPerson, contacts: ErasedContacts): Promise<void> {
  const { organization_id } = erasure
  const rows = await job.db.all(
    select({
      id: emailMessages.id,
      edition_id: emailMessages.edition_id,
      version: emailMessages.version,
      blocks: emailMessages.blocks,
    })
      .from(emailMessages)
      .where(
        sql`${emailMessages.organization_id} = ${organization_id} and instr(${emailMessages.blocks}, '"condition":')`,
      ),
  )
  const erase = (condition: string): string => eraseInExpression(condition, contacts)
  const statements = rows.flatMap((row) => {
    if (listConditions(row.blocks).every((condition) => erase(condition) === condition)) return []
    return [
      // Nobody has changed what the message says to anybody else, so approvals with this version hold.
      update(
        emailMessages,
        { blocks: mapConditions(row.blocks, erase) },
        and(eq(emailMessages.id, row.id), eq(emailMessages.version, row.version)),
      ),
      requireOneChange(),
      recordErasure(
        erasure,
        { id: job.newId('audit_entry'), now: job.now() },
        { edition_id: row.edition_id, type: 'email_message', resource_id: row.id, field: 'blocks' },
      ),
    ]
  })
  if (statements.length > 0) await job.db.batch(statements)
}
