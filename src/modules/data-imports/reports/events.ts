import { eq } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { getImportProgress } from '../../../domain/data-imports/data-imports.ts'
import { importFields, type ImportRow } from '../background/steps.ts'
import type { LoadedImport } from '../queries.ts'

const pickState = (row: ImportRow) => ({
  status: row.status,
  phase: row.phase,
  progress: getImportProgress(row),
  total_rows: row.total_rows,
  processed_rows: row.processed_rows,
  total_orders: row.total_orders,
  created_orders: row.created_orders,
  updated_orders: row.updated_orders,
  skipped_orders: row.skipped_orders,
  failed_orders: row.failed_orders,
})

/** Sends each change of the state, and ends with the state in which nothing is running. */
export const streamImportEvents = (ctx: Ctx, { id }: LoadedImport) => ({
  maxMs: 60_000,
  open: async () => {
    let lastState = ''
    return {
      poll: async () => {
        const row = await ctx.db.first(select(importFields).from(dataImports).where(eq(dataImports.id, id)))
        if (!row) return { events: [], isLast: true }
        const state = JSON.stringify(pickState(row))
        const isLast = row.phase === null
        const isNew = isLast || state !== lastState
        lastState = state
        return { events: isNew ? [{ name: isLast ? 'end' : 'progress', data: state }] : [], isLast }
      },
    }
  },
})
