import { mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { presentEntry } from './present.ts'
import { listAuditEntries } from './list.ts'

export const auditLogRoutes = createRouter()

mountList(auditLogRoutes, contract.listAuditLog, {
  list: (ctx, { query, filters, page }) => listAuditEntries(ctx, page, query.ordering, filters),
  present: presentEntry,
})
