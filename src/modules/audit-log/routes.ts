import { mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { listAuditLog } from './list.ts'
import { presentEntry } from './present.ts'

export const auditLogRoutes = createRouter()

mountList(auditLogRoutes, contract.listAuditLog, {
  list: listAuditLog,
  present: presentEntry,
})
