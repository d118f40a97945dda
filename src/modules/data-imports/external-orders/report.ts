import type { Ctx } from '../../../context.ts'
import type { dataImports } from '../../../db/schema/data-imports.ts'
import type { ImportOptions } from '../../../domain/data-imports/data-imports.ts'
import type { importStatuses } from '../../../domain/orders/external-orders.ts'
import type { ImportRun, OrderOutcome } from '../../order-import/index.ts'
import type { OrganizationSummaryRow } from '../../organizations/index.ts'
import { buildCallFields } from '../call-fields.ts'
import type { ImportExternalOrdersInput } from './contract.ts'

export type RunEdition = ImportRun['edition'] & OrganizationSummaryRow

type DataImportRow = typeof dataImports.$inferSelect

/** The columns that the answer shows. Other columns belong to imports of files. */
type ReportedRow = Pick<
  DataImportRow,
  | 'organization_id'
  | 'edition_id'
  | 'account_id'
  | 'name'
  | 'name_key'
  | 'external_source'
  | 'total_rows'
  | 'created_orders'
  | 'updated_orders'
  | 'skipped_orders'
  | 'failed_orders'
  | 'created_at'
  | 'modified_at'
  | 'search'
> & {
  id: string | null
  source: 'api'
  kind: 'orders'
  status: (typeof importStatuses)[number]
  options: Pick<ImportOptions, 'on_duplicate' | 'emit_webhooks' | 'send_receipts' | 'skipped'>
}

export interface ImportReport {
  row: ReportedRow
  edition: RunEdition
  results: readonly OrderOutcome[]
  dry_run: boolean
}

export interface ReportedCall {
  edition: RunEdition
  input: ImportExternalOrdersInput
  /** Null for a dry run. */
  id: string | null
  /** When the call began to store orders, in milliseconds UTC. */
  begun_at: number
}

export function decideStatus(failedCount: number, total: number): ReportedRow['status'] {
  if (failedCount === total) return 'failed'
  return failedCount > 0 ? 'completed_with_errors' : 'completed'
}

export function buildReport(ctx: Ctx, call: ReportedCall, outcomes: readonly OrderOutcome[]): ImportReport {
  const { edition, input, id, begun_at } = call
  const count = (action: OrderOutcome['action']) => outcomes.filter((outcome) => outcome.action === action).length
  const failedCount = count('error')
  const { on_duplicate, emit_webhooks, send_receipts, skipped, dry_run, source } = input
  const row: ReportedRow = {
    id,
    ...buildCallFields(ctx, edition, source, begun_at),
    kind: 'orders',
    status: decideStatus(failedCount, outcomes.length),
    options: { on_duplicate, emit_webhooks, send_receipts, skipped },
    total_rows: input.orders.length,
    created_orders: count('created'),
    updated_orders: count('updated'),
    skipped_orders: count('skipped'),
    failed_orders: failedCount,
    created_at: begun_at,
    modified_at: ctx.now(),
  }
  return { row, edition, results: outcomes.toSorted((one, other) => one.index - other.index), dry_run }
}
