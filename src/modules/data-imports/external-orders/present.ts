import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { presentEditionSummary } from '../../editions/index.ts'
import { presentOrganizationSummary } from '../../organizations/index.ts'
import type { ExternalOrdersImport } from './contract.ts'
import type { ImportReport } from './import-external-orders.ts'

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
