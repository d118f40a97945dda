import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { files } from '../../db/schema/files.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { managers } from '../../domain/accounts/access.ts'
import { cleanFileName } from '../../domain/files/names.ts'
import { checkMove, openEditions } from '../editions/index.ts'
import type { UpdateFileInput } from './contract.ts'
import { createInUseError, requireUnused } from './delete.ts'
import type { FileRow, StoredFile } from './queries.ts'
import { forgetServedFile } from './serving/served-file.ts'
import { buildNameColumns, checkPurpose } from './upload.ts'

export async function updateFile(ctx: Ctx, row: FileRow, input: UpdateFileInput): Promise<FileRow> {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined)
  const requestedFields = Object.fromEntries(entries) as Partial<StoredFile>
  if (input.name !== undefined) requestedFields.name = cleanFileName(input.name, row.mime_type)
  const changes = pickChanges<StoredFile>(row, requestedFields)
  if (isEmpty(changes)) return commit(ctx, row, openEditions(row.edition_id))
  if (changes.purpose !== undefined) checkPurpose(changes.purpose, row.mime_type)
  if (changes.edition_id !== undefined) await checkMove(ctx, managers, row.organization_id, changes.edition_id)
  const isMoved = changes.edition_id !== undefined || changes.purpose !== undefined
  // Whatever uses the file chose it by its edition and its purpose.
  if (isMoved && row.is_used)
    throw createInUseError(row, 'This file is in use, so its edition and purpose cannot change.')
  const updatedFile = { ...row, ...changes, modified_at: ctx.now() }
  const columns = { ...changes, ...buildNameColumns(updatedFile), modified_at: updatedFile.modified_at }
  const result = await commit(ctx, { ...updatedFile, ...columns, version: row.version + 1 }, [
    ...openEditions(row.edition_id, changes.edition_id),
    ...(isMoved ? [requireUnused(row)] : []),
    ...updateVersion(files, row, columns),
  ])
  forgetServedFile(row.id)
  return result
}
