import { and, eq, getTableColumns, gt, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { fileUploads } from '../../../db/schema/files.ts'
import { fromJson, select } from '../../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { notFound } from '../../../domain/errors.ts'

export type UploadColumns = typeof fileUploads.$inferSelect

interface UploadPart {
  number: number
  size: number
  checksum_sha256: string
  store_etag: string
}

export interface UploadRow extends UploadColumns {
  parts: readonly UploadPart[]
}

const uploadVisibility = buildVisibility(sql`${fileUploads.organization_id}`, sql`${fileUploads.edition_id}`)

const parts = fromJson<UploadPart[]>(sql`(select json_group_array(json_object('number', number, 'size', size,
    'checksum_sha256', checksum_sha256, 'store_etag', store_etag))
  from (select * from file_upload_parts where upload_id = ${fileUploads.id} order by number))`)

/** An expired upload counts as not found, because a sweep is about to delete it. */
export async function findUpload(ctx: Ctx, id: string): Promise<UploadRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select({ ...getTableColumns(fileUploads), parts })
      .from(fileUploads)
      .where(
        and(eq(fileUploads.id, id), gt(fileUploads.expires_at, ctx.now()), isVisibleTo(ctx.caller, uploadVisibility)),
      ),
  )
  if (!row) throw notFound()
  const { organization_id, edition_id } = row
  const tenant = { organization_id, editions: edition_id === null ? [] : [edition_id] }
  return { ...row, tenant }
}
