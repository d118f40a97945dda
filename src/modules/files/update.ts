import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { files } from '../../db/schema/files/files.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { cleanFileName } from '../../domain/files/names.ts'
import { checkMove, openEditions } from '../editions/index.ts'
import { type UpdateFileInput, writers } from './contract.ts'
import { checkPurpose, buildFileSearchText } from './create.ts'
import { fileInUse, stillUnused } from './delete.ts'
import type { FileRow, StoredFile } from './queries.ts'
import { forgetServedFile } from './serving/served-file.ts'

export async function updateFile(ctx: Ctx, row: FileRow, input: UpdateFileInput): Promise<FileRow> {
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const asked = Object.fromEntries(given) as Partial<StoredFile>
  if (input.name !== undefined) asked.name = cleanFileName(input.name, row.mime_type)
  const changes = pickChanges<StoredFile>(row, asked)
  if (isEmpty(changes)) return commit(ctx, row, openEditions(row.edition_id))
  if (changes.purpose !== undefined) checkPurpose(changes.purpose, row.mime_type)
  if (changes.edition_id !== undefined) await checkMove(ctx, writers, row.organization_id, changes.edition_id)
  const isMoved = changes.edition_id !== undefined || changes.purpose !== undefined
  // Whatever uses the file chose it by its place and its purpose.
  if (isMoved && row.is_used) throw fileInUse(row, 'Something shows this file where it is.')
  const next = { ...row, ...changes, modified_at: ctx.now() }
  const all = { ...changes, search: buildFileSearchText(next), modified_at: next.modified_at }
  const result = await commit(ctx, { ...next, ...all, version: row.version + 1 }, [
    ...openEditions(row.edition_id, changes.edition_id),
    ...(isMoved ? [stillUnused(row)] : []),
    ...updateVersion(files, row, all),
  ])
  forgetServedFile(row.id)
  return result
}
