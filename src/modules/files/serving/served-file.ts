import { eq } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { files } from '../../../db/schema/files/files.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { isPrivate, isVariant, openSignedAddress, type Variant } from '../../../domain/files/addresses.ts'
import { isImageType } from '../../../domain/files/types.ts'
import { isId } from '../../../domain/ids.ts'
import { notFound } from '../../../domain/errors.ts'
import { isSameText } from '../../../domain/wallet/wallet-tokens.ts'

export interface FileAddress {
  id: string
  key: string
  variant: string
  /** Of a signed address; absent in others. */
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
  /** Opened by a signed address, so that no cache may keep it. */
  is_signed: boolean
  /** When its row was read, where that was for an earlier request. */
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

/** The row of a public file. */
interface RecentRow {
  id: string
}

interface Recent<Row extends RecentRow> {
  row: Row
  readAt: number
}

const keptMs = 60_000
const mostKept = 1000

/**
 * Rows of public files that this isolate read within the last minute: a range is read from the store alone. Copies in
 * our caches are served as long without a look at the database.
 */
class RecentFiles<Row extends RecentRow> {
  readonly #files = new Map<string, Recent<Row>>()

  find(id: string, now: number): Recent<Row> | undefined {
    const found = this.#files.get(id)
    if (!found || (now >= found.readAt && now < found.readAt + keptMs)) return found
    this.forget(id)
    return undefined
  }

  keep(row: Row, readAt: number): void {
    this.forget(row.id)
    const [oldest] = this.#files.keys()
    if (this.#files.size >= mostKept && oldest !== undefined) this.forget(oldest)
    this.#files.set(row.id, { row, readAt })
  }

  forget(id: string): void {
    this.#files.delete(id)
  }
}

const recentFiles = new RecentFiles<FileFacts>()

/** Reads the row of a file anew at its next request in this isolate. */
export const forgetServedFile = (id: string): void => recentFiles.forget(id)

const keyForm = /^[\w-]{1,64}$/
const maxTokenLength = 200

/** True where the address opens the file: a scanner's address does so in quarantine too. */
async function isOpen({ config, now }: JobCtx, file: FileFacts, token: string | undefined): Promise<boolean> {
  if (token === undefined) return file.status === 'ready' && !isPrivate(file)
  const reader = openSignedAddress(config.linkSigningKey, token, file.id, now())
  return reader === 'scanner' || (reader === 'person' && file.status === 'ready')
}

/**
 * The file that an address opens; null alike for what does not exist, was deleted, is in quarantine or has another key.
 * With `mayBeRecent` its row may have been read within the last minute.
 */
export async function findServedFile(
  job: JobCtx,
  address: FileAddress,
  { mayBeRecent = false } = {},
): Promise<ServedFile | null> {
  const { id, key, variant, token } = address
  if (!isId('file', id) || !keyForm.test(key) || !isVariant(variant) || (token?.length ?? 0) > maxTokenLength)
    return null
  const now = job.now()
  const recent = mayBeRecent && token === undefined ? recentFiles.find(id, now) : undefined
  if (!recent) recentFiles.forget(id)
  const file = recent?.row ?? (await job.db.first(select(fields).from(files).where(eq(files.id, id))))
  if (!file || !isSameText(file.access_key, key) || file.storage_key === null) return null
  if (variant !== 'original' && (token !== undefined || !isImageType(file.mime_type))) return null
  if (!(await isOpen(job, file, token))) return null
  if (!recent && token === undefined) recentFiles.keep(file, now)
  const { id: _id, status: _status, purpose: _purpose, access_key: _key, ...served } = file
  const { storage_key } = file
  return { ...served, id, storage_key, variant, is_signed: token !== undefined, read_at: recent?.readAt ?? null }
}

/** As `findServedFile`; throws where there is none. */
export async function openServedFile(
  job: JobCtx,
  address: FileAddress,
  options: { mayBeRecent?: boolean } = {},
): Promise<ServedFile> {
  const file = await findServedFile(job, address, options)
  if (!file) throw notFound()
  return file
}
