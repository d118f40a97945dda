import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit, abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { AppError } from '../../domain/errors.ts'
import { openEditions } from '../editions/index.ts'
import type { FileRow } from './queries.ts'
import { isUsed } from './references.ts'
import { forgetServedFile } from './serving/served-file.ts'
import { releaseContent } from './storage.ts'

export const createInUseError = (row: FileRow, detail: string): AppError =>
  new AppError('file_in_use', detail, { extra: { related_objects: row.used_by } })

/** Aborts the batch as a lost race if something uses the file. */
export const requireUnused = ({ id }: Pick<FileRow, 'id'>): Statement => abortUnless(sql`not ${isUsed(sql`${id}`)}`)

type DeletedFile = Pick<FileRow, 'id' | 'version' | 'organization_id' | 'storage_key'>

/** Deletes the row of a file that nothing uses. Aborts the batch as a lost race if the row has changed. */
export const deleteRow = (row: DeletedFile, now: number): Statement[] => {
  const { id, version, organization_id, storage_key } = row
  return [
    requireUnused(row),
    sql`delete from files where id = ${id} and version = ${version} and storage_key is ${storage_key}`,
    requireOneChange(),
    ...(storage_key === null ? [] : releaseContent(organization_id, storage_key, now)),
  ]
}

/** Deletes a file. A sweep deletes its bytes within a minute, if no other file uses them. */
export async function deleteFile(ctx: Ctx, row: FileRow): Promise<null> {
  if (row.is_used)
    throw createInUseError(
      row,
      'You cannot delete a file that is in use: remove it from everything in `related_objects` first.',
    )
  await commit(ctx, null, [...openEditions(row.edition_id), ...deleteRow(row, ctx.now())])
  forgetServedFile(row.id)
  return null
}
