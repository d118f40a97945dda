import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { pickChanges, isEmpty } from '../../db/write.ts'
import {
  type ImportOptions,
  readingOptions,
  readOptions,
  stagingOptions,
} from '../../domain/data-imports/data-imports.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { isSameJson } from '../../domain/text/json.ts'
import { beginPhase, type ImportChanges } from './background/steps.ts'
import { checkAction, commitImport } from './begin.ts'
import { getFileColumns, getFileSource, findImportableFile } from './create.ts'
import type { UpdateDataImportInput } from './import-contract.ts'
import { buildMappingChanges } from './mapping/state.ts'
import { hasOrganizationRole, type LoadedImport, mayReadFile } from './queries.ts'

const buildMappingDeletion = (id: string): Statement[] => [
  sql`delete from import_columns where import_id = ${id}`,
  sql`delete from import_constants where import_id = ${id}`,
]

function mergeOptions(row: LoadedImport, input: UpdateDataImportInput): ImportOptions {
  const before = readOptions(row.options)
  const hasNewFile = input.file_id !== undefined && input.file_id !== row.file_id
  return {
    ...before,
    ...(hasNewFile ? { group_by: null } : {}),
    ...input.options,
    ...(input.emit_webhooks === undefined ? {} : { emit_webhooks: input.emit_webhooks }),
  }
}

const hasChanged = (one: ImportOptions, other: ImportOptions, names: readonly (keyof ImportOptions)[]): boolean =>
  names.some((name) => !isSameJson(JSON.stringify(one[name]), JSON.stringify(other[name])))

/** Builds the changes that new options or a new file entail: the file is read or its rows are staged again. */
async function buildRestartChanges(ctx: Ctx, row: LoadedImport, options: ImportOptions, fileId: string | null) {
  const before = readOptions(row.options)
  const hasNewFile = fileId !== row.file_id
  const isUnread = fileId !== null && row.format === null
  if (fileId !== null && (hasNewFile || isUnread || hasChanged(before, options, readingOptions)))
    return {
      ...beginPhase(row, 'parse', ctx.now()),
      status: 'parsing' as const,
      uses_organization_memory: hasOrganizationRole(ctx, row),
    }
  if (row.format !== null && hasChanged(before, options, stagingOptions))
    return buildMappingChanges(ctx, row, { options })
  return {}
}

export async function updateDataImport(
  ctx: Ctx,
  row: LoadedImport,
  input: UpdateDataImportInput,
): Promise<LoadedImport> {
  checkAction(ctx, row, 'update', 'changed')
  const fileId = input.file_id ?? row.file_id
  const hasNewFile = fileId !== row.file_id
  // A file that the caller may not read is refused even if the import has it.
  const mustCheckFile = hasNewFile || (input.file_id !== undefined && !mayReadFile(ctx, row))
  const file = mustCheckFile && fileId !== null ? await findImportableFile(ctx, fileId, row) : null
  const options = mergeOptions(row, input)
  const name = input.name ?? row.name
  const changes: ImportChanges = {
    name,
    name_key: buildSortKey(name),
    search: buildSearchText(name),
    ...(input.external_source === undefined
      ? {}
      : { external_source: input.external_source, source_suggested_by: null }),
    ...(hasNewFile ? { remembered_options: null, source: getFileSource(file) } : {}),
    options,
    file_id: fileId,
    ...(await buildRestartChanges(ctx, row, options, fileId)),
  }
  if (isEmpty(pickChanges<LoadedImport>(row, changes))) return commit(ctx, row, [])
  const rowWithFile = file ? { ...row, ...getFileColumns(file) } : row
  return commitImport(ctx, rowWithFile, changes, hasNewFile ? buildMappingDeletion(row.id) : [])
}
