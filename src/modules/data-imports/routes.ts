import { mountStream } from '../../http/operations/mount-stream.ts'
import { mount, mountFile, mountList } from '../../http/operations/mount.ts'
import { createRouter } from '../../http/operations/mount.ts'
import { cancelDataImport, processColumnMappings, undoDataImport } from './actions.ts'
import * as columns from './columns/column-contract.ts'
import { findColumnView, loadConsentTargets } from './columns/columns.ts'
import { listColumnMappings } from './columns/list.ts'
import { loadColumnExtras, presentColumn, presentColumns, presentTargetFields } from './columns/present-columns.ts'
import { updateColumnMappings } from './columns/update-columns.ts'
import { createDataImport } from './create.ts'
import * as calls from './external-orders/contract.ts'
import { ExternalOrderSchema } from './external-orders/external-order-contract.ts'
import { importExternalOrders } from './external-orders/import-external-orders.ts'
import { buildOrdersRefusal, presentImport } from './external-orders/present.ts'
import * as contract from './import-contract.ts'
import { listDataImports } from './list.ts'
import { presentMappingValidation, validateColumnMappings } from './mapping/validate.ts'
import { presentDataImport } from './present-import.ts'
import { previewImportOrders, summarizePreview } from './preview/list.ts'
import { listProductMappings } from './products/list.ts'
import { presentProduct } from './products/present-products.ts'
import * as products from './products/product-contract.ts'
import { updateProductMappings } from './products/update-products.ts'
import { findImport } from './queries.ts'
import { downloadErrorReport } from './reports/error-report.ts'
import { streamImportEvents } from './reports/events.ts'
import { listImportRows } from './reports/list.ts'
import { presentImportRow, presentPreviewOrder } from './run/present-run.ts'
import * as runs from './run/run-contract.ts'
import { startDataImport } from './run/start.ts'
import { updateDataImport } from './update.ts'
import * as users from './users/contract.ts'
import { buildUsersRefusal, importUsers, presentUsersImport } from './users/import-users.ts'

export const importRoutes = createRouter()

// An invalid order does not refuse the call, so the contract accepts any; the document shows their shape.
importRoutes.hono.openAPIRegistry.register('ExternalOrder', ExternalOrderSchema)

mount(importRoutes, calls.importExternalOrders, {
  target: (body) => body,
  handle: (ctx, { body }) => importExternalOrders(ctx, body),
  refuse: buildOrdersRefusal,
  present: presentImport,
})

importRoutes.hono.openAPIRegistry.register('ImportedUser', users.ImportedUserSchema)

mount(importRoutes, users.importUsers, {
  target: (body) => body,
  handle: (ctx, { body }) => importUsers(ctx, body),
  refuse: buildUsersRefusal,
  present: presentUsersImport,
})

mountList(importRoutes, contract.listDataImports, {
  list: listDataImports,
  present: presentDataImport,
})

mount(importRoutes, contract.createDataImport, {
  target: (body) => body,
  handle: (ctx, { body }) => createDataImport(ctx, body),
  present: presentDataImport,
  location: ({ id }) => `/v1/data-imports/${id}`,
})

// This path has to precede that of a single import, which would take it for an id.
mount(importRoutes, columns.listImportTargetFields, {
  handle: async (ctx, { query }) => ({ kind: query.kind, consents: await loadConsentTargets(ctx, query.edition_id) }),
  present: ({ kind, consents }) => ({ results: presentTargetFields(consents, kind) }),
})

mount(importRoutes, contract.getDataImport, {
  load: (ctx, { id }) => findImport(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentDataImport,
})

mount(importRoutes, contract.updateDataImport, {
  load: (ctx, { id }) => findImport(ctx, id),
  handle: (ctx, { resource, body }) => updateDataImport(ctx, resource, body),
  present: presentDataImport,
})

mount(importRoutes, contract.cancelDataImport, {
  load: (ctx, { id }) => findImport(ctx, id),
  handle: (ctx, { resource }) => cancelDataImport(ctx, resource),
  present: presentDataImport,
})

mount(importRoutes, contract.undoDataImport, {
  load: (ctx, { id }) => findImport(ctx, id),
  handle: (ctx, { resource }) => undoDataImport(ctx, resource),
  present: presentDataImport,
})

mountList(importRoutes, columns.listColumnMappings, {
  load: (ctx, { id }) => findColumnView(ctx, id),
  list: listColumnMappings,
  present: presentColumn,
  extend: loadColumnExtras,
})

mount(importRoutes, columns.updateColumnMappings, {
  load: (ctx, { id }) => findColumnView(ctx, id),
  handle: (ctx, { resource, body }) => updateColumnMappings(ctx, resource, body),
  present: presentColumns,
  represent: ({ row }, ctx) => presentDataImport(row, ctx),
})

mount(importRoutes, columns.validateColumnMappings, {
  load: (ctx, { id }) => findColumnView(ctx, id),
  handle: (ctx, { resource }) => validateColumnMappings(ctx, resource),
  present: presentMappingValidation,
  represent: ({ row }, ctx) => presentDataImport(row, ctx),
})

mount(importRoutes, contract.processColumnMappings, {
  load: (ctx, { id }) => findColumnView(ctx, id),
  handle: (ctx, { resource }) => processColumnMappings(ctx, resource),
  present: presentDataImport,
  represent: ({ row }, ctx) => presentDataImport(row, ctx),
})

mountList(importRoutes, products.listProductMappings, {
  load: (ctx, { id }) => findImport(ctx, id),
  list: listProductMappings,
  present: presentProduct,
})

mount(importRoutes, products.updateProductMappings, {
  load: (ctx, { id }) => findImport(ctx, id),
  handle: (ctx, { resource, body }) => updateProductMappings(ctx, resource, body),
  present: ({ rows, status, unmapped }) => ({ results: rows.map(presentProduct), status, unmapped }),
  represent: (resource, ctx) => presentDataImport(resource, ctx),
})

mountList(importRoutes, runs.previewImportOrders, {
  load: (ctx, { id }) => findImport(ctx, id),
  list: previewImportOrders,
  present: presentPreviewOrder,
  extend: summarizePreview,
})

mount(importRoutes, contract.startDataImport, {
  load: (ctx, { id }) => findImport(ctx, id),
  handle: (ctx, { resource, body }) => startDataImport(ctx, resource, body),
  present: presentDataImport,
})

mountList(importRoutes, runs.listImportRows, {
  load: (ctx, { id }) => findImport(ctx, id),
  list: listImportRows,
  present: presentImportRow,
})

mountFile(importRoutes, runs.downloadErrorReport, {
  load: (ctx, { id }) => findImport(ctx, id),
  handle: (ctx, { resource }) => downloadErrorReport(ctx, resource),
})

mountStream(importRoutes, runs.streamImportEvents, {
  load: (ctx, { id }) => findImport(ctx, id),
  handle: (ctx, { resource }) => streamImportEvents(ctx, resource),
})
