import { eq } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { files } from '../../../db/schema/files/files.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { isPrivate, isVariant, readerOf, type Variant } from '../../../domain/files/addresses.ts'
import { isImageType } from '../../../domain/files/types.ts'
import { isIdOf } from '../../../domain/ids.ts'
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

const keyForm = /^[\w-]{1,64}$/
const maxTokenLength = 200

/** True where the address opens the file: a scanner's address does so in quarantine too. */
async function isOpen(
  { config, now }: JobCtx,
  file: RowOf<typeof fields>,
  token: string | undefined,
): Promise<boolean> {
  if (token === undefined) return file.status === 'ready' && !isPrivate(file)
  const reader = await readerOf(config.linkSigningKey, token, file.id, now())
  return reader === 'scanner' || (reader === 'person' && file.status === 'ready')
}

/** The file that an address opens; null alike for what does not exist, was deleted, is in quarantine or has another key. */
export async function findServedFile(job: JobCtx, address: FileAddress): Promise<ServedFile | null> {
  const { id, key, variant, token } = address
  if (!isIdOf('file', id) || !keyForm.test(key) || !isVariant(variant) || (token?.length ?? 0) > maxTokenLength)
    return null
  const file = await job.db.first(select(fields).from(files).where(eq(files.id, id)))
  if (!file || !isSameText(file.access_key, key) || file.storage_key === null) return null
  if (variant !== 'original' && (token !== undefined || !isImageType(file.mime_type))) return null
  if (!(await isOpen(job, file, token))) return null
  const { id: _, status, purpose, access_key, ...served } = file
  return { ...served, id, storage_key: file.storage_key, variant, is_signed: token !== undefined }
}

/** As `findServedFile`; throws where there is none. */
export async function openServedFile(job: JobCtx, address: FileAddress): Promise<ServedFile> {
  const file = await findServedFile(job, address)
  if (!file) throw notFound()
  return file
}
