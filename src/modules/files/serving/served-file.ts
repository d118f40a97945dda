import { eq } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { files } from '../../../db/schema/files.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { notFound } from '../../../domain/errors.ts'
import { isPrivate, isVariant, openSignedAddress, type Variant } from '../../../domain/files/addresses.ts'
import { isImageType } from '../../../domain/files/types.ts'
import { isId } from '../../../domain/ids.ts'
import { areTextsEqual } from '../../../domain/wallet/wallet-tokens.ts'

export interface FileAddress {
  id: string
  key: string
  variant: string
  /** The token of a signed URL. */
  token: string | undefined
}

export interface ServedFile {
  id: string
  name: string
  mime_type: string
  size: number
  checksum_sha256: string
  storage_key: string
  created_at: number
  variant: Variant
  /** True for a signed URL, which must not be cached. */
  is_signed: boolean
  /** When its row was read, if that was for an earlier request. */
  read_at: number | null
}

const fields = {
  id: files.id,
  name: files.name,
  purpose: files.purpose,
  mime_type: files.mime_type,
  size: files.size,
  checksum_sha256: files.checksum_sha256,
  status: files.status,
  access_key: files.access_key,
  storage_key: files.storage_key,
  created_at: files.created_at,
}

type FileFacts = RowOf<typeof fields>

interface RecentRow {
  id: string
}

interface RecentFile<Row extends RecentRow> {
  row: Row
  readAt: number
}

const maxAgeMs = 60_000
const maxRows = 1000

/**
 * Rows of public files that this isolate has read within the last minute, so that a range needs no database query. Cached
 * copies are served without the database for as long.
 */
class RecentFiles<Row extends RecentRow> {
  readonly #files = new Map<string, RecentFile<Row>>()

  find(id: string, now: number): RecentFile<Row> | undefined {
    const file = this.#files.get(id)
    if (!file || (now >= file.readAt && now < file.readAt + maxAgeMs)) return file
    this.forget(id)
    return undefined
  }

  add(row: Row, readAt: number): void {
    this.forget(row.id)
    const [oldestId] = this.#files.keys()
    if (this.#files.size >= maxRows && oldestId !== undefined) this.forget(oldestId)
    this.#files.set(row.id, { row, readAt })
  }

  forget(id: string): void {
    this.#files.delete(id)
  }
}

const recentFiles = new RecentFiles<FileFacts>()

/** Makes the next request for the file in this isolate read its row again. */
export const forgetServedFile = (id: string): void => recentFiles.forget(id)

const keyPattern = /^[\w-]{1,64}$/
const maxTokenLength = 200

/** With a scanner, a file must not be served once it is infected, so its row is read for each request. */
export const canBecomeInfected = ({ config }: Pick<JobCtx, 'config'>): boolean => config.files.scan !== null

/** True if the URL gives access to the file. A scanner's URL does so in quarantine too. */
async function isAccessible({ config, now }: JobCtx, file: FileFacts, token: string | undefined): Promise<boolean> {
  if (token === undefined) return file.status === 'ready' && !isPrivate(file)
  const reader = openSignedAddress(config.linkReadingKeys, token, file.id, now())
  return reader === 'scanner' || (reader === 'person' && file.status === 'ready')
}

/**
 * Finds the file of a URL. Null: it does not exist, is in quarantine, or has another key. With `mayBeRecent`, the row may be
 * up to a minute old.
 */
export async function findServedFile(
  job: JobCtx,
  address: FileAddress,
  { mayBeRecent = false } = {},
): Promise<ServedFile | null> {
  const { id, key, variant, token } = address
  if (!isId('file', id) || !keyPattern.test(key) || !isVariant(variant) || (token?.length ?? 0) > maxTokenLength)
    return null
  const now = job.now()
  const isRecentEnough = mayBeRecent && token === undefined && !canBecomeInfected(job)
  const recentFile = isRecentEnough ? recentFiles.find(id, now) : undefined
  if (!recentFile) recentFiles.forget(id)
  const file = recentFile?.row ?? (await job.db.first(select(fields).from(files).where(eq(files.id, id))))
  if (!file || !areTextsEqual(file.access_key, key) || file.storage_key === null) return null
  if (variant !== 'original' && (token !== undefined || !isImageType(file.mime_type))) return null
  if (!(await isAccessible(job, file, token))) return null
  if (!recentFile && token === undefined) recentFiles.add(file, now)
  const { id: _id, status: _status, purpose: _purpose, access_key: _key, ...servedFields } = file
  const { storage_key } = file
  return {
    ...servedFields,
    id,
    storage_key,
    variant,
    is_signed: token !== undefined,
    read_at: recentFile?.readAt ?? null,
  }
}

/** Finds the file of a URL, or throws 404. */
export async function openServedFile(
  job: JobCtx,
  address: FileAddress,
  options: { mayBeRecent?: boolean } = {},
): Promise<ServedFile> {
  const file = await findServedFile(job, address, options)
  if (!file) throw notFound()
  return file
}
