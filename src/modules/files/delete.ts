import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne, commit, stillHolds } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { AppError } from '../../domain/errors.ts'
import { openEditions } from '../editions/index.ts'
import type { FileRow } from './queries.ts'
import { type FileUse, isUsed } from './references.ts'
import { releaseContent } from './storage.ts'

export const fileInUse = (row: FileRow, detail: string): AppError =>
  new AppError('file_in_use', detail, { extra: { related_objects: JSON.parse(row.used_by) as FileUse[] } })

/** A reference that was made meanwhile makes this decide again. */
export const stillUnused = ({ id }: FileRow): Statement => stillHolds(sql`not ${isUsed(sql`${id}`)}`)

/** The bytes go within a minute after their last file. */
export async function deleteFile(ctx: Ctx, row: FileRow): Promise<null> {
  if (row.is_used) throw fileInUse(row, 'This file is in use.')
  const { id, version, organization_id, storage_key } = row
  return commit(ctx, null, [
    ...openEditions(row.edition_id),
    stillUnused(row),
    sql`delete from files where id = ${id} and version = ${version} and storage_key is ${storage_key}`,
    changedOne(),
    ...(storage_key === null ? [] : releaseContent(organization_id, storage_key, ctx.now())),
  ])
}
