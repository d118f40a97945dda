// npm run schema makes this file from migrations/0023_audit_log.sql and src/db/column-types.ts.
//
// The audit log.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/**
 * Entries begin their id with their time, so the key is the order of time. An empty `organization_id` stands for
 * none.
 */
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
    /** [{field, before, after}], or [{field, is_hidden}] for secrets and contents of messages. */
    changes: text({ mode: 'json' }).$type<typeof types.audit_log.changes.value>().notNull(),
    request_id: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.id] })],
)
