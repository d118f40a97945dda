import { mount, createRouter } from '../../http/operations/mount.ts'
import * as contract from './external-orders/contract.ts'
import { ExternalOrderSchema } from './external-orders/external-order-contract.ts'
import { mountImports, mountMappings } from './file-routes.ts'
import { importExternalOrders } from './external-orders/import-external-orders.ts'
import { presentImport } from './external-orders/present.ts'
import { mountRuns } from './run-routes.ts'

export const dataImports = createRouter()

// The contract accepts any orders, so that an invalid one does not refuse the call; the document shows their shape.
dataImports.hono.openAPIRegistry.register('ExternalOrder', ExternalOrderSchema)

mount(dataImports, contract.importExternalOrders, {
  target: (body) => body,
  handle: (ctx, { body }) => importExternalOrders(ctx, body),
  present: presentImport,
})

mountImports(dataImports)
mountMappings(dataImports)
mountRuns(dataImports)
