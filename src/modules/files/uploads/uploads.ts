import { sql, eq, getTableColumns, lte } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../../context.ts'
import { requireOneChange, commit, commitPart } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { fileUploads } from '../../../db/schema/files.ts'
import { select } from '../../../db/select.ts'
import { insert, remove } from '../../../db/write.ts'
import { AppError, fieldError, invalid, notFound, LostRace } from '../../../domain/errors.ts'
import {
  type IncomingFile,
  countParts,
  getPartSize,
  type ReceivedFile,
  uploadLifetimeMs,
} from '../../../domain/files/files.ts'
import { cleanFileName } from '../../../domain/files/names.ts'
import { parseDeclaredType } from '../../../domain/files/types.ts'
import { TooFewBytes, TooManyBytes } from '../../../gateways/files/files.ts'
import { checkTenant, openEditions } from '../../editions/index.ts'
import { countBytes, generateStorageKey, releaseBytes, toStoreError } from '../storage.ts'
import type { StartUploadInput } from './upload-contract.ts'
import type { UploadColumns, UploadRow } from './upload-queries.ts'

/** The type is detected when the upload is completed. */
const unknownType = 'application/octet-stream'

/** Starts R2's upload before the row is written. Without a row, R2 drops it after a week. */
export async function startFileUpload(ctx: Ctx, input: StartUploadInput): Promise<UploadRow> {
  const { organization_id, edition_id = null, size, title } = input
  await checkTenant(ctx, organization_id, edition_id)
  const storage_key = generateStorageKey(ctx)
  const now = ctx.now()
  const row: UploadColumns = {
    id: ctx.newId('file_upload'),
    organization_id,
    edition_id,
    name: cleanFileName(input.name, unknownType),
    title,
    tags: input.tags,
    metadata: input.metadata,
    size,
    content_type: parseDeclaredType(input.content_type),
    storage_key,
    store_upload_id: await ctx.files.startParts(storage_key),
    uploaded_by: ctx.caller.is_superuser ? null : ctx.caller.id,
    file_id: null,
    version: 1,
    created_at: now,
    modified_at: now,
    expires_at: now + uploadLifetimeMs,
  }
  return commit(ctx, { ...row, parts: [] }, [
    ...openEditions(edition_id),
    countBytes(organization_id, size),
    insert(fileUploads, row),
  ])
}

const createCompletedError = () =>
  new AppError('upload_completed', 'This upload is already completed. Start a new upload to send another file.')

const touchUpload = (row: UploadRow, now: number): Statement[] => [
  sql`update file_uploads set version = version + 1, modified_at = ${now} where id = ${row.id} and file_id is null`,
  requireOneChange(),
]

/** Parses the part number in the path. */
function parsePartNumber(text: string, size: number): number {
  const number = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > countParts(size)) throw notFound()
  return number
}

interface PartAt {
  params: { number: string }
  resource: UploadRow
}

/** Stores a part while it is received. It counts only when `putFileUploadPart` has written its row. */
export async function receivePart(ctx: Ctx, file: IncomingFile, { params, resource }: PartAt): Promise<ReceivedFile> {
  const number = parsePartNumber(params.number, resource.size)
  if (resource.file_id !== null) throw createCompletedError()
  const { body, size, digest } = file
  const expectedSize = getPartSize(resource.size, number)
  if (digest === null)
    throw new AppError('validation_error', 'The Content-Digest header is required.', {
      errors: [{ code: 'required', detail: 'This header is required.', attr: 'Content-Digest', pointer: null }],
    })
  const createSizeError = () => invalid(fieldError([], 'part_size', `Part ${number} must have ${expectedSize} bytes.`))
  if (size !== null && size !== expectedSize) throw createSizeError()
  const { storage_key, store_upload_id: uploadId } = resource
  const storedPart = await ctx.files
    .putPart({ key: storage_key, uploadId, number }, body, expectedSize)
    .catch((error: unknown) => {
      const isWrongSize = error instanceof TooManyBytes || error instanceof TooFewBytes
      throw size === null && isWrongSize ? createSizeError() : toStoreError(error, expectedSize)
    })
  if (storedPart.checksum_sha256 !== digest)
    throw new AppError(
      'checksum_mismatch',
      'The bytes of the part do not match its Content-Digest. Send the part again.',
    )
  return { ...storedPart, store_etag: storedPart.etag, storage_key, name: '', declaredType: null }
}

/** Writes the row of a stored part. Other parts can arrive at the same time. */
export async function putFileUploadPart(
  ctx: Ctx,
  row: UploadRow,
  { number: text, file }: { number: string; file: ReceivedFile },
): Promise<UploadRow> {
  if (row.file_id !== null) throw createCompletedError()
  const number = parsePartNumber(text, row.size)
  const { size, checksum_sha256, store_etag = '' } = file
  const part = { number, size, checksum_sha256, store_etag }
  const parts = [...row.parts.filter((other) => other.number !== number), part].toSorted((a, b) => a.number - b.number)
  const now = ctx.now()
  return commit(ctx, { ...row, parts, version: row.version + 1, modified_at: now }, [
    ...openEditions(row.edition_id),
    ...touchUpload(row, now),
    sql`insert into file_upload_parts (upload_id, number, size, checksum_sha256, store_etag)
      values (${row.id}, ${number}, ${size}, ${checksum_sha256}, ${store_etag})
      on conflict (upload_id, number) do update set size = excluded.size, checksum_sha256 = excluded.checksum_sha256,
        store_etag = excluded.store_etag`,
  ])
}

/** Deletes an upload that is not completed, and marks its parts for deletion. */
const dropUpload = (row: UploadColumns, now: number): Statement[] => [
  sql`delete from file_uploads where id = ${row.id} and version = ${row.version} and file_id is null`,
  requireOneChange(),
  releaseBytes(row.organization_id, row.size),
  sql`insert into objects_to_delete (storage_key, store_upload_id, created_at)
    values (${row.storage_key}, ${row.store_upload_id}, ${now})`,
]

export async function abortFileUpload(ctx: Ctx, row: UploadRow): Promise<null> {
  if (row.file_id !== null) throw createCompletedError()
  return commit(ctx, null, [...openEditions(row.edition_id), ...dropUpload(row, ctx.now())])
}

const uploadsPerSweep = 50

/** Deletes uploads after a day. The file of a completed upload stays. */
export async function sweepUploads(job: JobCtx): Promise<void> {
  const now = job.now()
  const expiredRows = await job.db.all(
    select(getTableColumns(fileUploads))
      .from(fileUploads)
      .where(lte(fileUploads.expires_at, now))
      .orderBy(fileUploads.expires_at)
      .limit(uploadsPerSweep),
  )
  for (const row of expiredRows)
    await commitPart(
      job,
      row.file_id === null ? dropUpload(row, now) : [remove(fileUploads, eq(fileUploads.id, row.id))],
    ).catch((error: unknown) => {
      // A client has sent a part or aborted the upload. The next sweep tries again.
      if (!(error instanceof LostRace)) throw error
    })
}
