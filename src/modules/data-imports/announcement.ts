import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import type { dataImports } from '../../db/schema/data-imports.ts'
import { toIso } from '../../domain/time/instants.ts'
import { announce } from '../webhooks/index.ts'

type EndedImport = Pick<
  typeof dataImports.$inferSelect,
  | 'id'
  | 'organization_id'
  | 'edition_id'
  | 'source'
  | 'kind'
  | 'total_rows'
  | 'created_orders'
  | 'updated_orders'
  | 'skipped_orders'
  | 'failed_orders'
>

/**
 * Announces the end of an import, for the transaction that ends it. A failed import is not announced, because a client can
 * continue it.
 */
export const announceEnd = (
  job: JobCtx,
  row: EndedImport,
  status: 'completed' | 'completed_with_errors' | 'failed',
): Statement[] => {
  if (status === 'failed') return []
  const { id, organization_id, edition_id, source, kind, total_rows, created_orders } = row
  const { updated_orders, skipped_orders, failed_orders } = row
  const counts = { total_rows, created_orders, updated_orders, skipped_orders, failed_orders }
  return announce(job, {
    kind: 'import.completed',
    organization_id,
    edition_id,
    data: { data_import: { id, source, kind, status, ...counts }, occurred_at: toIso(job.now()) },
  })
}
