import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { dataImports } from '../../db/schema/data-imports.ts'
import { isVisibleTo } from '../../db/visibility.ts'
import { insert } from '../../db/write.ts'
import { dataImportLifecycle, defaultOptions, noColumns, noProducts } from '../../domain/data-imports/data-imports.ts'
import { doesNotExist, fieldError, invalid } from '../../domain/errors.ts'
import { xlsxType } from '../../domain/files/types.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { toIso } from '../../domain/time/instants.ts'
import { openEditions } from '../editions/index.ts'
import { fileVisibility } from '../files/index.ts'
import { beginPhase } from './background/steps.ts'
import { buildWorkStatements } from './begin.ts'
import type { CreateDataImportInput } from './import-contract.ts'
import { findImportTenant, hasOrganizationRole, type ImportDetailRow } from './queries.ts'

interface EditionTenant {
  organization_id: string
  edition_id: string
}

export interface ImportableFile {
  id: string
  name: string
  size: number
  edition_id: string | null
  mime_type: string
}

/**
 * Finds a ready file of the edition or of the whole organisation. The caller has to be able to read the file, because
 * an import answers all of its cells.
 */
export async function findImportableFile(ctx: Ctx, id: string, tenant: EditionTenant): Promise<ImportableFile> {
  const file = await ctx.db.first(sql<ImportableFile & { purpose: string; status: string; is_stored: number }>`
    select id, name, size, mime_type, purpose, status, edition_id, storage_key is not null as is_stored from files
    where id = ${id} and organization_id = ${tenant.organization_id} and ${isVisibleTo(ctx.caller, fileVisibility)}`)
  if (!file || (file.edition_id !== null && file.edition_id !== tenant.edition_id)) throw doesNotExist('file_id')
  if (file.purpose !== 'import')
    throw invalid(fieldError(['file_id'], 'invalid_choice', 'Upload the file with the purpose `import`.'))
  if (file.status !== 'ready')
    throw invalid(
      fieldError(
        ['file_id'],
        'invalid_choice',
        'The file has not been scanned yet. Try again when its status is `ready`.',
      ),
    )
  if (!file.is_stored)
    throw invalid(fieldError(['file_id'], 'invalid_choice', 'The file was deleted. Upload it again.'))
  return file
}

export const getFileColumns = (file: ImportableFile | null) => ({
  file_name: file?.name ?? null,
  file_size: file?.size ?? null,
  file_edition_id: file?.edition_id ?? null,
})

/** The content decided the type of the file when it was uploaded. */
export const getFileSource = (file: ImportableFile | null) =>
  file?.mime_type === xlsxType ? ('xlsx' as const) : ('csv' as const)

const initialColumns = {
  total_rows: 0,
  valid_rows: 0,
  invalid_rows: 0,
  processed_rows: 0,
  total_orders: 0,
  created_orders: 0,
  updated_orders: 0,
  skipped_orders: 0,
  failed_orders: 0,
  undone_orders: 0,
  kept_orders: 0,
  shared_customer_orders: 0,
  format: null,
  canonical_size: null,
  detected_source: null,
  error_code: null,
  error_message: null,
  started_at: null,
  completed_at: null,
  undo_until: null,
  files_deleted_at: null,
  rows_deleted_at: null,
  row_counts: null,
  resume_key: null,
  stored_results: null,
  column_summary: noColumns,
  product_summary: noProducts,
  version: 1,
}

export async function createDataImport(ctx: Ctx, input: CreateDataImportInput): Promise<ImportDetailRow> {
  const { organization_id, edition_id, file_id, external_source } = input
  const tenant = await findImportTenant(ctx, organization_id, edition_id)
  const file = file_id ? await findImportableFile(ctx, file_id, input) : null
  const now = ctx.now()
  const name = input.name ?? file?.name ?? `Import ${toIso(now)}`
  const idleColumns = { phase: null, epoch: 0, position: {}, heartbeat_at: null, stalls: 0 }
  const row = {
    ...initialColumns,
    ...(file ? { ...idleColumns, ...beginPhase(idleColumns, 'parse', now) } : idleColumns),
    id: ctx.newId('data_import'),
    organization_id,
    edition_id,
    account_id: ctx.caller.is_superuser ? null : ctx.caller.id,
    name,
    name_key: buildSortKey(name),
    search: buildSearchText(name),
    source: getFileSource(file),
    external_source: external_source ?? null,
    kind: input.kind,
    source_suggested_by: null,
    uses_organization_memory: hasOrganizationRole(ctx, input),
    remembered_options: null,
    status: file ? ('parsing' as const) : dataImportLifecycle.initial,
    options: {
      ...defaultOptions,
      ...input.options,
      ...(input.emit_webhooks === undefined ? {} : { emit_webhooks: input.emit_webhooks }),
    },
    file_id: file?.id ?? null,
    created_at: now,
    modified_at: now,
  }
  const newImport = { ...tenant, ...row, ...getFileColumns(file) }
  return commit(ctx, newImport, [
    ...openEditions(edition_id),
    ...(file ? buildWorkStatements(ctx, row, insert(dataImports, row)) : [insert(dataImports, row)]),
  ])
}
