import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AuditChange } from '../../domain/audit.ts'

export const auditLog = sqliteTable(
  'audit_log',
  {
    organization_id: text().notNull(),
    id: text().notNull(),
    edition_id: text(),
    action: text().notNull(),
    actor_id: text().notNull(),
    token_id: text(),
    resource_type: text(),
    resource_id: text(),
    changes: text({ mode: 'json' }).$type<readonly AuditChange[]>().notNull(),
    request_id: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.id] })],
)
