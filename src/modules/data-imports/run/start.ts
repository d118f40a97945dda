import type { Ctx } from '../../../context.ts'
import { listChangeableEditions } from '../../../db/customers.ts'
import { readOptions } from '../../../domain/data-imports/data-imports.ts'
import { AppError, fieldError, invalid } from '../../../domain/errors.ts'
import { pickReceiptMessage } from '../../transactional-emails/index.ts'
import { beginPhase } from '../background/steps.ts'
import { checkAction, commitImport } from '../begin.ts'
import { buildHistoryStatements } from '../columns/history.ts'
import type { StartDataImportInput } from '../import-contract.ts'
import { hasOrganizationRole, type LoadedImport } from '../queries.ts'
import { selectEdition } from './setting.ts'

async function checkReceipts(ctx: Ctx, row: LoadedImport): Promise<void> {
  if (!readOptions(row.options).send_receipts) return
  const edition = await ctx.db.first(selectEdition(row.edition_id))
  if (edition && (await pickReceiptMessage(ctx, edition)) !== null) return
  const detail = 'This edition has no receipt e-mail. Choose one in its field transaction_receipt_email_id.'
  throw invalid(fieldError(['options', 'send_receipts'], 'no_receipt_message', detail))
}

function checkProducts({ status, product_summary }: LoadedImport): void {
  if (status !== 'mapping_products') return
  const { unmapped } = product_summary
  const detail = unmapped === 1 ? '1 product is not mapped.' : `${unmapped} products are not mapped.`
  throw new AppError('product_mapping_incomplete', detail, { extra: { unmapped } })
}

const formatInvalidRows = (count: number): string =>
  `${count === 1 ? '1 row has' : `${count} rows have`} errors. Correct them, or send skip_invalid_rows`

/** Starts creating the orders. A failed import continues after its last order. */
export async function startDataImport(
  ctx: Ctx,
  row: LoadedImport,
  { skip_invalid_rows }: StartDataImportInput,
): Promise<LoadedImport> {
  checkProducts(row)
  checkAction(ctx, row, 'start', 'started')
  const { invalid_rows } = row
  if (invalid_rows > 0 && row.started_at === null && !skip_invalid_rows)
    throw new AppError('import_has_invalid_rows', `${formatInvalidRows(invalid_rows)} to leave their orders out.`, {
      extra: { invalid_rows },
    })
  await checkReceipts(ctx, row)
  const now = ctx.now()
  // The background work has the rights of the user who starts it.
  const changeable = listChangeableEditions(ctx.caller, row.organization_id)
  const changes = {
    ...beginPhase(row, 'import', now),
    status: 'importing' as const,
    position: { changeable },
    started_at: row.started_at ?? now,
    completed_at: null,
  }
  return commitImport(ctx, row, changes, await buildHistoryStatements(ctx.db, row, hasOrganizationRole(ctx, row), now))
}
