import { mount, mountFile, mountList, type Router } from '../../http/operations/mount.ts'
import { startDataImport as startContract } from './import-contract.ts'
import { presentDataImport } from './present-import.ts'
import { findImport } from './queries.ts'
import { openErrorReport } from './reports/error-report.ts'
import { openEvents } from './reports/events.ts'
import { presentImportRow, presentPreviewOrder } from './run/present-run.ts'
import { listPreview, previewTotals } from './preview/index.ts'
import { listImportRows } from './reports/rows.ts'
import * as contract from './run/run-contract.ts'
import { startDataImport } from './run/start.ts'

/** What is done with an import whose rows are staged. */
export function mountRuns(router: Router): void {
  mountList(router, contract.previewImportOrders, {
    load: (ctx, { id }) => findImport(ctx, id),
    list: (ctx, { loaded, query, page }) => listPreview(ctx, loaded, page, query),
    present: presentPreviewOrder,
    extend: previewTotals,
  })

  mount(router, startContract, {
    load: (ctx, { id }) => findImport(ctx, id),
    handle: (ctx, { loaded, body }) => startDataImport(ctx, loaded, body),
    present: presentDataImport,
  })

  mountList(router, contract.listImportRows, {
    load: (ctx, { id }) => findImport(ctx, id),
    list: (ctx, { loaded, query: { ordering }, filters, page }) =>
      listImportRows(ctx, loaded, page, { ordering, filters }),
    present: presentImportRow,
  })

  mountFile(router, contract.downloadErrorReport, {
    load: (ctx, { id }) => findImport(ctx, id),
    handle: (ctx, { loaded }) => openErrorReport(ctx, loaded),
  })

  mountFile(router, contract.streamImportEvents, {
    load: (ctx, { id }) => findImport(ctx, id),
    handle: (ctx, { loaded }) => openEvents(ctx, loaded),
  })
}
