import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import { AppError } from '../../../domain/errors.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { presentEditionSummary } from '../../editions/index.ts'
import { presentOrganizationSummary } from '../../organizations/index.ts'
import type { ExternalOrdersImport } from './contract.ts'
import type { ImportReport } from './report.ts'

export function presentImport(
  { row, edition, results, dry_run }: ImportReport,
  ctx: Ctx,
): z.input<typeof ExternalOrdersImport> {
  return {
    id: row.id,
    name: row.name,
    source: row.source,
    external_source: row.external_source,
    status: row.status,
    organization: presentOrganizationSummary(edition, ctx),
    edition: presentEditionSummary({
      edition_id: edition.id,
      edition_full_name: edition.full_name,
      edition_slug: edition.slug,
      edition_start_at: edition.start_at,
      edition_end_at: edition.end_at,
      edition_timezone: edition.timezone,
      edition_is_draft: edition.is_draft,
      edition_published_at: edition.published_at,
    }),
    dry_run,
    ...row.options,
    options: row.options,
    total_rows: row.total_rows,
    created_orders: row.created_orders,
    updated_orders: row.updated_orders,
    skipped_orders: row.skipped_orders,
    failed_orders: row.failed_orders,
    results: results.map((result) => ({ ...result, errors: [...result.errors], warnings: [...result.warnings] })),
    created: toIso(row.created_at),
    modified: toIso(row.modified_at),
  }
}

/** An answer has at most this many errors, and every order has one of them. */
const maxErrors = 100

/** A call whose orders were all refused answers an error, so that a client notices it by the status. */
export function buildOrdersRefusal(report: ImportReport, ctx: Ctx): AppError | null {
  if (report.row.failed_orders < report.results.length) return null
  const { results, ...data_import } = presentImport(report, ctx)
  const errorsPerOrder = Math.max(1, Math.floor(maxErrors / results.length))
  const errors = results.flatMap((result) => result.errors.slice(0, errorsPerOrder))
  const [first] = errors
  const detail =
    results.length === 1
      ? `The order is refused: ${first?.detail ?? ''}`
      : `All ${results.length} orders are refused. The first error is: ${first?.detail ?? ''}`
  return new AppError('orders_refused', detail, { errors, extra: { data_import, results } })
}
