import type { z } from '@hono/zod-openapi'
import { superuser } from '../../domain/accounts/access.ts'
import type { AuditChange } from '../../domain/audit.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { AuditEntry } from './contract.ts'
import type { AuditRow } from './list.ts'

const presentChange = (change: AuditChange) =>
  'is_hidden' in change
    ? { field: change.field, before: null, after: null, is_hidden: true }
    : { field: change.field, before: change.before ?? null, after: change.after ?? null, is_hidden: false }

export const presentEntry = (row: AuditRow): z.input<typeof AuditEntry> => ({
  id: row.id,
  created: toIso(row.created_at),
  action: row.action,
  actor: {
    id: row.actor_id,
    email: row.email,
    member_id: row.member_id,
    first_name: row.first_name ?? '',
    last_name: row.last_name ?? '',
    is_superuser: row.actor_id === superuser.id,
  },
  token_id: row.token_id,
  organization_id: row.organization_id === '' ? null : row.organization_id,
  edition_id: row.edition_id,
  resource_type: row.resource_type,
  resource_id: row.resource_id,
  changes: row.changes.map(presentChange),
  request_id: row.request_id,
})
