import { auditLog } from '../../../src/db/schema/audit-log.ts'
import { insertAll } from '../../../src/db/write.ts'
import { newId } from '../../../src/domain/ids.ts'
import { seededAt, next, write } from './rows.ts'

type Row = typeof auditLog.$inferInsert

/** Seeds entries of the organisation, some with the same time. */
export async function seedEntries(organization: string, count: number, columns: Partial<Row> = {}): Promise<Row[]> {
  const rows = Array.from({ length: count }, (): Row => {
    const created_at = columns.created_at ?? seededAt + Math.floor(next() / 3) * 1000
    return {
      organization_id: organization,
      id: newId('audit_entry', created_at, Math.random),
      edition_id: null,
      action: 'updateOrganization',
      actor_id: 'root',
      token_id: null,
      resource_type: 'organization',
      resource_id: organization,
      changes: [],
      request_id: 'req_seeded',
      created_at,
      ...columns,
    }
  })
  await write(...insertAll(auditLog, rows))
  return rows
}
