import { eq } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { select } from '../../../db/select.ts'
import { getImportProgress } from '../../../domain/data-imports/data-imports.ts'
import { importFields, type ImportRow } from '../background/steps.ts'
import type { LoadedImport } from '../queries.ts'

const pauseMs = 1000
/** An idle connection gets a comment this often, so that it stays open. */
const heartbeatMs = 15_000
/** The service closes a connection after this time, and the client connects again. */
const maxConnectionMs = 60_000

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

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function* streamStates(ctx: Ctx, id: string): AsyncGenerator<string, void> {
  yield 'retry: 1000\n\n'
  let lastState = ''
  let silentMs = 0
  // The clock of a Worker only moves with I/O, so the pauses are added up instead.
  for (let waitedMs = 0; waitedMs < maxConnectionMs; waitedMs += pauseMs) {
    const row = await ctx.db.first(select(importFields).from(dataImports).where(eq(dataImports.id, id)))
    if (!row) return
    const state = JSON.stringify(pickState(row))
    if (row.phase === null) return yield `event: end\ndata: ${state}\n\n`
    if (state !== lastState) yield `event: progress\ndata: ${state}\n\n`
    else if (silentMs >= heartbeatMs) yield ': still at work\n\n'
    silentMs = state === lastState && silentMs < heartbeatMs ? silentMs + pauseMs : 0
    lastState = state
    await pause(pauseMs)
  }
}

export const streamImportEvents = (ctx: Ctx, { id }: LoadedImport) => ({
  name: null,
  headers: { 'cache-control': 'private, no-store, no-transform', 'x-accel-buffering': 'no' },
  open: async () => streamStates(ctx, id),
})
