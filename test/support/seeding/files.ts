import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { files, storedObjects, fileUploads, fileUploadParts } from '../../../src/db/schema/files.ts'
import { insertAll, insert } from '../../../src/db/write.ts'
import type { FilePurpose } from '../../../src/domain/files/files.ts'
import { toHex } from '../../../src/domain/text/encoding.ts'
import { buildSortKey } from '../../../src/domain/text/fold.ts'
import { givenOrganization } from './organizations.ts'
import { db, freshId, next, type Place, randomBytes, seededAt, type WidePlace, write } from './rows.ts'

type FileRow = typeof files.$inferInsert

const buildRow = ({ organization, edition }: WidePlace, at: number) => ({
  id: freshId('file'),
  organization_id: organization,
  edition_id: edition,
  name: `poster-${at % 3}.png`,
  name_key: buildSortKey(`poster-${at % 3}.png`),
  purpose: 'image' as const,
  mime_type: 'image/png',
  size: 1000 + (at % 3),
  checksum_sha256: '0'.repeat(64),
  access_key: '0'.repeat(32),
  search: `poster-${at % 3}.png`,
  created_at: seededAt + (at % 3),
  modified_at: seededAt + (at % 5),
})

/** Seeds rows without bytes. */
export async function seedFiles(place: WidePlace, count: number, columns: Partial<FileRow> = {}): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, at) => ({
    ...buildRow(place, at),
    ...(columns.name === undefined ? {} : { name_key: buildSortKey(columns.name) }),
    ...columns,
  }))
  await write(...insertAll(files, rows))
  return rows.map(({ id }) => id)
}

/** Seeds a row without bytes. */
export const seedFile = async (place: WidePlace, columns: Partial<FileRow> = {}): Promise<string> =>
  (await seedFiles(place, 1, columns))[0] ?? ''

/** Counts bytes as the service does. */
export const countBytes = (organization: string, bytes: number) =>
  sql`insert into organization_storage (organization_id, used_bytes) values (${organization}, ${bytes})
    on conflict (organization_id) do update set used_bytes = used_bytes + excluded.used_bytes`

/** Stores bytes of an organisation once. */
async function seedBytes(organization_id: string, bytes: Uint8Array<ArrayBuffer>) {
  const checksum_sha256 = toHex(await crypto.subtle.digest('SHA-256', bytes))
  const size = bytes.length
  const storedObject = await db.first(sql<{ storage_key: string }>`select storage_key from stored_objects
    where organization_id = ${organization_id} and checksum_sha256 = ${checksum_sha256}`)
  if (storedObject) return { storage_key: storedObject.storage_key, checksum_sha256, size }
  const storage_key = `objects/seeded-${next()}`
  await env.FILES.put(storage_key, bytes)
  await write(
    insert(storedObjects, { storage_key, organization_id, checksum_sha256, size, created_at: seededAt }),
    countBytes(organization_id, size),
  )
  return { storage_key, checksum_sha256, size }
}

export interface SeededFile {
  id: string
  organization_id: string
  access_key: string
  storage_key: string
  checksum_sha256: string
  content: Uint8Array<ArrayBuffer>
}

interface FileOptions {
  organization?: string
  edition?: string
  name?: string
  purpose?: FilePurpose
  mime_type?: string
  status?: 'ready' | 'quarantined'
  content?: Uint8Array<ArrayBuffer>
  created_at?: number
}

/** Seeds a file with its bytes where the service reads them. */
export async function seedStoredFile(options: FileOptions = {}): Promise<SeededFile> {
  const { name = 'photo.png', purpose = 'image', mime_type = 'image/png', status = 'ready' } = options
  const content = options.content ?? randomBytes(1000 + next()).slice()
  const organization_id = options.organization ?? (await givenOrganization()).id
  const at = options.created_at ?? seededAt
  const row = {
    id: freshId('file'),
    organization_id,
    edition_id: options.edition ?? null,
    access_key: toHex(randomBytes(16)),
    ...(await seedBytes(organization_id, content)),
    name,
    name_key: buildSortKey(name),
    purpose,
    mime_type,
    status,
    created_at: at,
    modified_at: at,
  }
  await write(insert(files, row))
  return { ...row, content }
}

/** Seeds an upload of one part, which has arrived or not. */
export async function seedUpload(
  { organization, edition }: Place,
  bytes: Uint8Array<ArrayBuffer>,
  { hasPart = false } = {},
): Promise<string> {
  const id = freshId('file_upload')
  const storage_key = `objects/seeded-${next()}`
  const upload = await env.FILES.createMultipartUpload(storage_key)
  const { size } = { size: bytes.length }
  await write(
    insert(fileUploads, {
      id,
      organization_id: organization,
      edition_id: edition,
      name: 'orders.csv',
      title: '',
      tags: [],
      metadata: {},
      size,
      storage_key,
      store_upload_id: upload.uploadId,
      created_at: seededAt,
      modified_at: seededAt,
      expires_at: Date.now() + 86_400_000,
    }),
    countBytes(organization, size),
  )
  if (!hasPart) return id
  const { etag } = await upload.uploadPart(1, bytes)
  const checksum_sha256 = toHex(await crypto.subtle.digest('SHA-256', bytes))
  await write(insert(fileUploadParts, { upload_id: id, number: 1, size, checksum_sha256, store_etag: etag }))
  return id
}
