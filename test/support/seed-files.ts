import { files, fileUploads } from '../../src/db/schema/files.ts'
import { insert, insertAll } from '../../src/db/write.ts'
import { freshId, next, seededAt, write } from './seed.ts'

interface Place {
  organization: string
  edition: string
}

const rowOf = ({ organization, edition }: Place, at: number) => ({
  id: freshId('file'),
  organization_id: organization,
  edition_id: edition,
  name: `poster-${at % 3}.png`,
  purpose: 'image',
  mime_type: 'image/png',
  size: 1000 + (at % 3),
  checksum_sha256: '0'.repeat(64),
  access_key: '0'.repeat(32),
  search: `poster-${at % 3}.png`,
  created_at: seededAt + (at % 3),
  modified_at: seededAt + (at % 5),
})

/** Rows without bytes. */
export async function seedFiles(place: Place, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, at) => rowOf(place, at))
  await write(...insertAll(files, rows))
  return rows.map(({ id }) => id)
}

export const seedFile = async (place: Place): Promise<string> => (await seedFiles(place, 1))[0] ?? ''

/** An upload of which the store knows nothing. */
export async function seedUpload({ organization, edition }: Place): Promise<string> {
  const id = freshId('file_upload')
  await write(
    insert(fileUploads, {
      id,
      organization_id: organization,
      edition_id: edition,
      name: 'orders.csv',
      title: '',
      tags: '[]',
      metadata: '{}',
      size: 1000,
      storage_key: `objects/seeded-${next()}`,
      store_upload_id: 'seeded',
      created_at: seededAt,
      modified_at: seededAt,
      expires_at: Date.now() + 86_400_000,
    }),
  )
  return id
}
