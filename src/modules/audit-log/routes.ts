import { mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { presentEntry } from './present.ts'
import { listAuditLog } from './list.ts'

export const auditLogRoutes = createRouter()

mountList(auditLogRoutes, contract.listAuditLog, {
  list: listAuditLog,
  present: presentEntry,
})
