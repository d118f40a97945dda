import { exactly, createdRange } from './filters.ts'
import type { LongList, Row } from './model.ts'

export const auditList = (rows: readonly Row[]): LongList => ({
  id: 'listAuditLog',
  path: () => '/v1/audit-log',
  roles: ['OA'],
  requires: ['organization_id'],
  scopes: ['organization_id'],
  defaultOrdering: '-created',
  orderings: { created: { by: ({ shown }) => Date.parse(shown.created) } },
  filters: {
    actor_id: exactly(({ shown }) => shown.actor.id, 'usr_nobody'),
    action: exactly(({ shown }) => shown.action, 'deleteEverything'),
    resource_type: exactly(({ shown }) => shown.resource_type, 'nothing'),
    resource_id: exactly(({ shown }) => shown.resource_id, 'org_none'),
    ...createdRange('exclusive'),
  },
  rows: () => rows,
  seen: ({ shown }) => ({ action: shown.action, resource_id: shown.resource_id }),
})
