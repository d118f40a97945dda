import type { z } from '@hono/zod-openapi'
import { partBytes, countParts } from '../../../domain/files/files.ts'
import { toIso } from '../../../domain/time/instants.ts'
import type { FileUpload } from './upload-contract.ts'
import type { UploadRow } from './upload-queries.ts'

export const presentUpload = (row: UploadRow): z.input<typeof FileUpload> => ({
  id: row.id,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  name: row.name,
  title: row.title,
  tags: [...row.tags],
  metadata: row.metadata,
  size: row.size,
  content_type: row.content_type,
  part_size: partBytes,
  part_count: countParts(row.size),
  parts: row.parts.map(({ number, size, checksum_sha256 }) => ({ number, size, checksum_sha256 })),
  file_id: row.file_id,
  expires: toIso(row.expires_at),
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
