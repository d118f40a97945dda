import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { requireOneChange, commit } from '../../../db/commit.ts'
import { AppError, LostRace } from '../../../domain/errors.ts'
import { checkContent, partsLimits } from '../../../domain/files/content.ts'
import { headBytes, countParts, type ReceivedFile } from '../../../domain/files/files.ts'
import { cleanFileName } from '../../../domain/files/names.ts'
import { PartsRefused } from '../../../gateways/files/files.ts'
import { openEditions } from '../../editions/index.ts'
import { type FileRow, findFile } from '../queries.ts'
import { scheduleScan } from '../scanning/scan.ts'
import { deleteUnusedBytes, storeContent, releaseKnownContent } from '../storage.ts'
import { checkPurpose, insertFile, buildFile } from '../upload.ts'
import type { UploadRow } from './upload-queries.ts'

const createIncompleteError = (missingNumbers: readonly number[]): AppError =>
  missingNumbers.length
    ? new AppError('upload_incomplete', `Parts are missing: ${missingNumbers.slice(0, 20).join(', ')}.`, {
        extra: { missing_parts: missingNumbers },
      })
    : new AppError('upload_incomplete', 'The parts were lost. Send them again.', {
        extra: { missing_parts: [] },
      })

function checkParts({ size, parts }: UploadRow): void {
  const uploadedNumbers = new Set(parts.map(({ number }) => number))
  const missingNumbers = Array.from({ length: countParts(size) }, (_, index) => index + 1).filter(
    (number) => !uploadedNumbers.has(number),
  )
  if (missingNumbers.length) throw createIncompleteError(missingNumbers)
}

/** Joins the parts into one object and reads it. It can be repeated after a crash. */
async function joinParts(ctx: Ctx, row: UploadRow): Promise<ReceivedFile> {
  const { storage_key, store_upload_id, name } = row
  const parts = row.parts.map(({ number, store_etag }) => ({ number, etag: store_etag }))
  try {
    await ctx.files.completeParts({ key: storage_key, uploadId: store_upload_id }, parts)
  } catch (error) {
    throw error instanceof PartsRefused ? createIncompleteError([]) : error
  }
  const storedBody = await ctx.files.read(storage_key, headBytes)
  // Another request has aborted the upload.
  if (!storedBody) throw new LostRace(new Error('The object is gone.'))
  return { ...storedBody, storage_key, name, declaredType: row.content_type }
}

/** Creates the file of an upload. Its bytes were counted at the start, and are subtracted if they are not new. */
export async function completeFileUpload(ctx: Ctx, row: UploadRow): Promise<FileRow> {
  if (row.file_id !== null) return commit(ctx, await findFile(ctx, row.file_id), openEditions(row.edition_id))
  checkParts(row)
  const receivedFile = await joinParts(ctx, row)
  const { mime_type } = checkContent(receivedFile, partsLimits)
  checkPurpose('import', mime_type)
  const { organization_id, edition_id, title, tags, metadata } = row
  const file = buildFile(ctx, receivedFile, {
    organization_id,
    edition_id,
    name: cleanFileName(row.name, mime_type),
    title,
    alt_text: {},
    tags,
    metadata,
    purpose: 'import',
    mime_type,
  })
  const content = { ...receivedFile, organization_id }
  const result = { ...file, is_used: false, used_by: [] }
  return commit(ctx, result, [
    ...openEditions(edition_id),
    sql`update file_uploads set file_id = ${file.id}, version = version + 1, modified_at = ${ctx.now()}
      where id = ${row.id} and version = ${row.version} and file_id is null`,
    requireOneChange(),
    storeContent(content, ctx.now()),
    releaseKnownContent(content),
    insertFile(file),
    ...scheduleScan(ctx, file.id),
    deleteUnusedBytes(receivedFile.storage_key, ctx.now()),
  ])
}
