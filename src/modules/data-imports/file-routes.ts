import { mount, mountList, type Router } from '../../http/operations/mount.ts'
import { cancelDataImport } from './cancel.ts'
import { createDataImport } from './create.ts'
import * as contract from './import-contract.ts'
import * as columns from './columns/column-contract.ts'
import { findColumnView, listColumns } from './columns/columns.ts'
import { besideColumns, presentColumn, presentColumns, presentTargetFields } from './columns/present-columns.ts'
import { presentProduct } from './products/present-product.ts'
import { processColumnMappings } from './mapping/process.ts'
import * as products from './products/product-contract.ts'
import { listProducts } from './products/products.ts'
import { consentTargets } from './columns/target-fields.ts'
import { updateColumnMappings } from './columns/update-columns.ts'
import { updateProductMappings } from './products/update-products.ts'
import { presentValidation, validateColumnMappings } from './mapping/validate.ts'
import { presentDataImport } from './present-import.ts'
import { findImport, listDataImports } from './queries.ts'
import { undoDataImport } from './undo/undo.ts'
import { updateDataImport } from './update.ts'

/** Imports of files, up to the start of their orders. */
export function mountImports(router: Router): void {
  mountList(router, contract.listDataImports, {
    list: (ctx, { query, filters, page }) => listDataImports(ctx, page, query.ordering, filters),
    present: presentDataImport,
  })

  mount(router, contract.createDataImport, {
    target: (body) => body,
    handle: (ctx, { body }) => createDataImport(ctx, body),
    present: presentDataImport,
    location: ({ id }) => `/v1/data-imports/${id}`,
  })

  // Before the single import, whose path would take it for an id.
  mount(router, columns.listTargetFields, {
    handle: (ctx, { query }) => consentTargets(ctx, query.edition_id),
    present: (consents) => ({ results: presentTargetFields(consents) }),
  })

  mount(router, contract.getDataImport, {
    load: (ctx, { id }) => findImport(ctx, id),
    handle: async (_, { loaded }) => loaded,
    present: presentDataImport,
  })

  mount(router, contract.updateDataImport, {
    load: (ctx, { id }) => findImport(ctx, id),
    handle: (ctx, { loaded, body }) => updateDataImport(ctx, loaded, body),
    present: presentDataImport,
  })

  mount(router, contract.cancelDataImport, {
    load: (ctx, { id }) => findImport(ctx, id),
    handle: (ctx, { loaded }) => cancelDataImport(ctx, loaded),
    present: presentDataImport,
  })

  mount(router, contract.undoDataImport, {
    load: (ctx, { id }) => findImport(ctx, id),
    handle: (ctx, { loaded }) => undoDataImport(ctx, loaded),
    present: presentDataImport,
  })
}

/** The columns and products of imports. */
export function mountMappings(router: Router): void {
  mountList(router, columns.listColumnMappings, {
    load: (ctx, { id }) => findColumnView(ctx, id),
    list: (ctx, { query, page, loaded }) => listColumns(ctx, page, query, loaded),
    present: presentColumn,
    extend: besideColumns,
  })

  mount(router, columns.updateColumnMappings, {
    load: (ctx, { id }) => findColumnView(ctx, id),
    handle: (ctx, { loaded, body }) => updateColumnMappings(ctx, loaded, body),
    present: presentColumns,
    represent: ({ row }, ctx) => presentDataImport(row, ctx),
  })

  mount(router, columns.validateColumnMappings, {
    load: (ctx, { id }) => findColumnView(ctx, id),
    handle: (ctx, { loaded }) => validateColumnMappings(ctx, loaded),
    present: presentValidation,
    represent: ({ row }, ctx) => presentDataImport(row, ctx),
  })

  mount(router, contract.processColumnMappings, {
    load: (ctx, { id }) => findColumnView(ctx, id),
    handle: (ctx, { loaded }) => processColumnMappings(ctx, loaded),
    present: presentDataImport,
    represent: ({ row }, ctx) => presentDataImport(row, ctx),
  })

  mountList(router, products.listProductMappings, {
    load: (ctx, { id }) => findImport(ctx, id),
    list: (ctx, { query, page, loaded }) => listProducts(ctx, page, query, loaded),
    present: presentProduct,
  })

  mount(router, products.updateProductMappings, {
    load: (ctx, { id }) => findImport(ctx, id),
    handle: (ctx, { loaded, body }) => updateProductMappings(ctx, loaded, body),
    present: ({ rows, status, unmapped }) => ({ results: rows.map(presentProduct), status, unmapped }),
    represent: (loaded, ctx) => presentDataImport(loaded, ctx),
  })
}
