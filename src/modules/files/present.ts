import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { mayAt, type Tenant, managers } from '../../domain/accounts/access.ts'
import { buildFileAddress, buildImageAddresses, isPrivate, signFileAddress } from '../../domain/files/addresses.ts'
import { isImageType } from '../../domain/files/types.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { File } from './contract.ts'
import type { FileRow } from './queries.ts'

type PresentedFile = z.input<typeof File>

export const presentFile = (row: FileRow, { config }: Ctx): PresentedFile => ({
  id: row.id,
  organization_id: row.organization_id,
  edition_id: row.edition_id,
  name: row.name,
  title: row.title,
  alt_text: row.alt_text,
  purpose: row.purpose,
  mime_type: row.mime_type,
  size: row.size,
  checksum_sha256: row.checksum_sha256,
  width: row.width,
  height: row.height,
  status: row.status,
  url: isPrivate(row) ? null : buildFileAddress(config.files.url, row, 'original'),
  image: isImageType(row.mime_type) ? buildImageAddresses(config.files.url, row) : null,
  is_used: row.is_used,
  used_by: row.used_by,
  uploaded_by: row.uploaded_by,
  tags: [...row.tags],
  metadata: row.metadata,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

const getTenant = ({ organization_id, edition_id }: FileRow): Tenant => ({
  organization_id,
  editions: edition_id === null ? [] : [edition_id],
})

/** Adds the signed URL of a private file. Callers who may only read the file's tenant get none. */
export async function signFile(file: PresentedFile, row: FileRow, ctx: Ctx): Promise<PresentedFile> {
  if (!isPrivate(row) || !mayAt(ctx.caller, managers, getTenant(row))) return file
  const { config, now } = ctx
  return { ...file, url: signFileAddress(config.files.url, config.linkSigningKey, { file: row, now: now() }) }
}
