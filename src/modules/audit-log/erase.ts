import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { AuditChange } from '../../domain/audit.ts'
import { containsContact, type ErasedContacts, eraseInExpression, listSpellings } from '../../domain/erasure.ts'
import { isList, readJson } from '../../domain/text/json.ts'

const entriesPerStep = 2000

/** True if a value of the change contains an address of the erased person. */
function concernsPerson(change: AuditChange, contacts: ErasedContacts): boolean {
  if ('is_hidden' in change) return false
  return [change.before, change.after].some((value) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (change.field === 'expression') return eraseInExpression(text, contacts) !== text
    return containsContact(text, contacts)
  })
}

/**
 * Hides the values with addresses of an erased person in the organisation's next entries after `after`. Returns the id
 * of the last entry read, or null when there are no more. Expressions can spell an address in many ways, so all entries
 * of segments are read. Entries about members concern people who work for the organisation.
 */
export async function hideContacts(
  { db }: Pick<JobCtx, 'db'>,
  organizationId: string,
  contacts: ErasedContacts,
  after: string,
): Promise<string | null> {
  const spellings = JSON.stringify(listSpellings(contacts))
  const [entries, [range]] = await db.batch([
    sql<{ id: string; changes: string }>`select id, changes
      from (select id, resource_type, changes from audit_log where organization_id = ${organizationId} and id > ${after}
        order by id limit ${entriesPerStep})
      where resource_type is not 'member' and (resource_type = 'segment'
        or exists (select 1 from json_each(${spellings}) where instr(lower(changes), value) > 0))`,
    sql<{ last: string; count: number }>`select max(id) as last, count(*) as count from (select id from audit_log
      where organization_id = ${organizationId} and id > ${after} order by id limit ${entriesPerStep})`,
  ])
  const hiddenChanges = entries.flatMap(({ id, changes }) => {
    const list = readJson(changes, isList) as AuditChange[]
    if (!list.some((change) => concernsPerson(change, contacts))) return []
    const visibleChanges = list.map((change) =>
      concernsPerson(change, contacts) ? { field: change.field, is_hidden: true } : change,
    )
    return [[organizationId, id, JSON.stringify(visibleChanges)]]
  })
  if (hiddenChanges.length > 0)
    await db.batch([
      sql`update audit_log set changes = hidden.value ->> 2 from json_each(${JSON.stringify(hiddenChanges)}) as hidden
        where audit_log.organization_id = hidden.value ->> 0 and audit_log.id = hidden.value ->> 1`,
    ])
  return range?.count === entriesPerStep ? range.last : null
}
