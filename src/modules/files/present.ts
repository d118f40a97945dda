import type { z } from '@hono/zod-openapi'
import { type FilePurpose, imageAddresses } from '../../domain/files/files.ts'
import { toIso } from '../../domain/instants.ts'
import type { TranslatedDict } from '../../domain/languages.ts'
import type { File } from './contract.ts'
import type { FileRow } from './queries.ts'
import type { FileUse } from './references.ts'

export function presentFile(row: FileRow): z.input<typeof File> {
  const addresses = imageAddresses(row.id, row.access_key)
  return {
    id: row.id,
    organization_id: row.organization_id,
    edition_id: row.edition_id,
    name: row.name,
    title: row.title,
    alt_text: JSON.parse(row.alt_text) as TranslatedDict & Record<string, string>,
    purpose: row.purpose as FilePurpose,
    mime_type: row.mime_type,
    size: row.size,
    checksum_sha256: row.checksum_sha256,
    width: row.width,
    height: row.height,
    status: row.status,
    url: row.purpose === 'import' ? null : addresses.original,
    image: row.purpose === 'image' ? addresses : null,
    is_used: row.is_used === 1,
    used_by: JSON.parse(row.used_by) as FileUse[],
    uploaded_by: row.uploaded_by,
    tags: JSON.parse(row.tags) as string[],
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    created: toIso(row.created_at),
    modified: toIso(row.modified_at),
  }
}
