import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { files } from '../../db/schema/files.ts'
import { insert } from '../../db/write.ts'
import { fieldError, invalid } from '../../domain/errors.ts'
import { checkContent } from '../../domain/files/content.ts'
import { type FilePurpose, fitsPurpose, inferPurpose, type ReceivedFile } from '../../domain/files/files.ts'
import { cleanFileName } from '../../domain/files/names.ts'
import { toHex } from '../../domain/text/encoding.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { requireTenant, openEditions } from '../editions/index.ts'
import type { UploadInput } from './contract.ts'
import type { FileRow, StoredFile } from './queries.ts'
import { getFirstStatus, scheduleScan } from './scanning/scan.ts'
import { countNewContent, deleteUnusedBytes, storeContent, selectContentKey } from './storage.ts'

export const checkPurpose = (purpose: FilePurpose, mimeType: string): void => {
  if (!fitsPurpose(purpose, mimeType))
    throw invalid(
      fieldError(['purpose'], 'invalid_choice', `A file of type ${mimeType} cannot have the purpose ${purpose}.`),
    )
}

/** The columns of a file that lists sort and search by. */
export const buildNameColumns = ({ name, title }: Pick<StoredFile, 'name' | 'title'>) => ({
  name_key: buildSortKey(name),
  search: buildSearchText(name, title),
})

type NewFileFields = Pick<
  StoredFile,
  'organization_id' | 'edition_id' | 'name' | 'title' | 'alt_text' | 'tags' | 'metadata' | 'purpose' | 'mime_type'
> &
  Partial<Pick<StoredFile, 'width' | 'height'>>

/** Builds the row of a file whose bytes are stored. */
export function buildFile(ctx: Ctx, receivedFile: ReceivedFile, fields: NewFileFields): StoredFile {
  const now = ctx.now()
  return {
    width: null,
    height: null,
    ...fields,
    id: ctx.newId('file'),
    size: receivedFile.size,
    checksum_sha256: receivedFile.checksum_sha256,
    status: getFirstStatus(ctx.config),
    access_key: toHex(ctx.randomBytes(16)),
    storage_key: receivedFile.storage_key,
    uploaded_by: ctx.caller.is_superuser ? null : ctx.caller.id,
    ...buildNameColumns(fields),
    version: 1,
    created_at: now,
    modified_at: now,
  }
}

/** Inserts the row of a file. If the organisation has the same bytes already, the row uses their storage key. */
export const insertFile = (row: StoredFile): Statement =>
  insert(files, { ...row, storage_key: selectContentKey({ ...row, storage_key: row.storage_key ?? '' }) })

export async function uploadFile(ctx: Ctx, input: UploadInput, receivedFile: ReceivedFile): Promise<FileRow> {
  const { organization_id, edition_id = null, title } = input
  const { mime_type, width, height } = checkContent(receivedFile)
  const purpose = input.purpose ?? inferPurpose(mime_type)
  checkPurpose(purpose, mime_type)
  const row = buildFile(ctx, receivedFile, {
    organization_id,
    edition_id,
    name: cleanFileName(receivedFile.name, mime_type),
    title,
    alt_text: input.alt_text,
    tags: input.tags,
    metadata: input.metadata,
    purpose,
    mime_type,
    width,
    height,
  })
  const content = { ...receivedFile, organization_id }
  const result = { ...row, is_used: false, used_by: [] }
  return commit(ctx, result, [
    storeContent(content, row.created_at, [requireTenant(organization_id, edition_id), ...openEditions(edition_id)]),
    countNewContent(content),
    insertFile(row),
    ...scheduleScan(ctx, row.id),
    deleteUnusedBytes(receivedFile.storage_key, row.created_at),
  ])
}
