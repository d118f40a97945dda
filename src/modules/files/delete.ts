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

export const fileInUse = (row: FileRow, detail: string): AppError =>
  new AppError('file_in_use', detail, { extra: { related_objects: row.used_by } })

/** Aborts the transaction, to be decided again, when something began to use the file meanwhile. */
export const stillUnused = ({ id }: Pick<FileRow, 'id'>): Statement => abortUnless(sql`not ${isUsed(sql`${id}`)}`)

type DeletedFile = Pick<FileRow, 'id' | 'version' | 'organization_id' | 'storage_key'>

/** Deletes a file that nothing uses. A change made meanwhile aborts the transaction, to be decided again. */
export const deletion = (row: DeletedFile, now: number): Statement[] => {
  const { id, version, organization_id, storage_key } = row
  return [
    stillUnused(row),
    sql`delete from files where id = ${id} and version = ${version} and storage_key is ${storage_key}`,
    requireOneChange(),
    ...(storage_key === null ? [] : releaseContent(organization_id, storage_key, now)),
  ]
}

/** A sweep deletes the bytes within a minute after the last file that has them. */
export async function deleteFile(ctx: Ctx, row: FileRow): Promise<null> {
  if (row.is_used) throw fileInUse(row, 'This file is in use.')
  await commit(ctx, null, [...openEditions(row.edition_id), ...deletion(row, ctx.now())])
  forgetServedFile(row.id)
  return null
}
