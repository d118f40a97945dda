import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { holdsOrRefuses } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { AppError } from '../../domain/errors.ts'
import {
  defaultStorageBytes,
  fileTooLarge,
  headBytes,
  type IncomingFile,
  type ReceivedFile,
} from '../../domain/files/files.ts'
import { ImageEndFinder } from '../../domain/files/image-end.ts'
import { toHex } from '../../domain/text/encoding.ts'
import { TooFewBytes, TooManyBytes } from '../../gateways/files/files.ts'

/** A random key, which is used for one upload and reveals nothing about the organisation. */
export const generateStorageKey = (ctx: Ctx): string => `objects/${toHex(ctx.randomBytes(16))}`

/** Turns an error of the store that the client has caused into an AppError, and returns other errors unchanged. */
export function toStoreError(error: unknown, maxBytes: number): unknown {
  if (error instanceof TooManyBytes) return fileTooLarge(maxBytes)
  if (error instanceof TooFewBytes)
    return new AppError('client_closed_request', 'The connection was closed before the whole body arrived.')
  return error
}

/** Stores the bytes of a request while they are received. No row refers to them before the commit. */
export async function receiveFile(ctx: Ctx, file: IncomingFile): Promise<ReceivedFile> {
  const storage_key = generateStorageKey(ctx)
  const { body, size, maxBytes, name, declaredType } = file
  const end = new ImageEndFinder()
  const inspect = (chunk: Uint8Array): void => end.add(chunk)
  try {
    const storedBody = await ctx.files.put(body, { key: storage_key, size, maxBytes, headBytes, inspect })
    return { ...storedBody, storage_key, name, declaredType, is_cut_off: end.isCutOff }
  } catch (error) {
    throw toStoreError(error, maxBytes)
  }
}

/** Deletes the bytes of a request that was refused. */
export const discardFile = (ctx: Ctx, { storage_key }: ReceivedFile): Promise<void> => ctx.files.delete([storage_key])

interface StoredContent {
  organization_id: string
  checksum_sha256: string
  storage_key: string
  size: number
}

const isStored = (key: string): SQL => sql`exists (select 1 from stored_objects where storage_key = ${key})`
const hasFiles = (key: string): SQL => sql`exists (select 1 from files where storage_key = ${key})`

/** The storage key of the organisation's bytes with this checksum. */
export const selectContentKey = ({ organization_id, checksum_sha256 }: StoredContent): SQL =>
  sql`(select storage_key from stored_objects
    where organization_id = ${organization_id} and checksum_sha256 = ${checksum_sha256})`

/** Evaluates the guards in order. Each one aborts the batch if it does not hold. */
const requireAll = (guards: readonly Statement[]): SQL =>
  guards.reduceRight<SQL>((rest, guard) => sql`case when (${guard}) then ${rest} end`, sql`1`)

/**
 * Adds the bytes to the organisation unless it has the same ones already. Bytes that the store had lost are restored for all
 * their files. The guards run in the same statement, which saves one statement each.
 */
export const storeContent = (content: StoredContent, now: number, guards: readonly Statement[] = []): Statement =>
  sql`insert into stored_objects (storage_key, organization_id, checksum_sha256, size, created_at)
    select ${content.storage_key}, ${content.organization_id}, ${content.checksum_sha256}, ${content.size}, ${now}
    where ${requireAll(guards)}
    on conflict (organization_id, checksum_sha256) do update set storage_key = excluded.storage_key, is_missing = 0
      where stored_objects.is_missing = 1`

/** True for bytes that this transaction has added. It must run before the row of the file is inserted. */
const isNewContent = (key: string): SQL => sql`(${isStored(key)} and not ${hasFiles(key)})`

const withinLimit = sql`used_bytes + excluded.used_bytes <= coalesce(limit_bytes, ${defaultStorageBytes})`

/** Adds bytes to the organisation's storage if the condition holds. Aborts the batch if that exceeds its limit. */
export const countBytes = (organizationId: string, bytes: number, condition: SQL = sql`1`): Statement =>
  sql`insert into organization_storage (organization_id, used_bytes)
    select ${organizationId}, ${bytes} where ${condition}
    on conflict (organization_id) do update set used_bytes = used_bytes + excluded.used_bytes
      where ${holdsOrRefuses(withinLimit, 'storage_full')}`

export const countNewContent = ({ organization_id, size, storage_key }: StoredContent): Statement =>
  countBytes(organization_id, size, isNewContent(storage_key))

export const releaseBytes = (organizationId: string, bytes: number, condition: SQL = sql`1`): Statement =>
  sql`update organization_storage set used_bytes = used_bytes - ${bytes}
    where organization_id = ${organizationId} and ${condition}`

/** Subtracts the bytes of an upload if the organisation had the same bytes already. */
export const releaseKnownContent = ({ organization_id, size, storage_key }: StoredContent): Statement =>
  releaseBytes(organization_id, size, sql`not ${isNewContent(storage_key)}`)

/** Marks uploaded bytes for deletion if the organisation has the same ones under another key. */
export const deleteUnusedBytes = (storageKey: string, now: number): Statement =>
  sql`insert into objects_to_delete (storage_key, created_at) select ${storageKey}, ${now}
    where not ${isStored(storageKey)}`

/** Subtracts bytes and marks them for deletion if no file uses them any more. */
export const releaseContent = (organizationId: string, storageKey: string, now: number): Statement[] => [
  sql`insert into objects_to_delete (storage_key, created_at) select storage_key, ${now} from stored_objects
    where storage_key = ${storageKey} and not ${hasFiles(storageKey)}`,
  sql`update organization_storage set used_bytes = used_bytes
      - (select size from stored_objects where storage_key = ${storageKey})
    where organization_id = ${organizationId} and ${isStored(storageKey)} and not ${hasFiles(storageKey)}`,
  sql`delete from stored_objects where storage_key = ${storageKey} and not ${hasFiles(storageKey)}`,
]
