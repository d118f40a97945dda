import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { abortUnless } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { isShowable } from '../../../db/images.ts'
import { files as fileTable } from '../../../db/schema/files.ts'
import { type RowOf, select } from '../../../db/select.ts'
import type { Block, ImageData } from '../../../domain/email/blocks/blocks.ts'
import { listImages, mapImages } from '../../../domain/email/blocks/images.ts'
import { type FieldError, fieldError, invalid } from '../../../domain/errors.ts'
import {
  type AddressedFile,
  buildFileAddress,
  parseFileAddress,
  pickMailVariant,
} from '../../../domain/files/addresses.ts'
import type { MessageDetailRow } from '../queries.ts'

const imageColumns = {
  id: fileTable.id,
  access_key: fileTable.access_key,
  mime_type: fileTable.mime_type,
  size: fileTable.size,
}

type ImageFile = RowOf<typeof imageColumns>

/** Undefined for the address of another site, null for a malformed address of a file. */
type ParsedAddress = AddressedFile | null | undefined

/** A file that the message already shows stays allowed, also for callers who could not choose it. */
const isShowableIn = (ctx: Ctx, row: MessageDetailRow, ids: readonly string[]) =>
  sql`${inList(sql`files.id`, ids)} and (${isShowable(ctx.caller, row)} or exists (select 1 from email_message_images
    where email_message_images.message_id = ${row.id} and email_message_images.file_id = files.id))`

const imageMissing = (path: (string | number)[]): FieldError =>
  fieldError(path, 'does_not_exist', 'No image of the organisation has this id or address, or it is not ready yet.')

/** The field at fault, with a detail when the file exists but `file_id` and `url` disagree. */
function findImageFault(
  data: ImageData,
  address: ParsedAddress,
  files: ReadonlyMap<string, ImageFile>,
): ['file_id' | 'url', string?] | null {
  const { file_id } = data
  if (file_id === undefined && address === undefined) return null
  if (file_id !== undefined && !files.has(file_id)) return ['file_id']
  if (address === undefined)
    return data.url === '' ? null : ['url', 'This is not an address of the file that `file_id` names.']
  if (address === null || files.get(address.id)?.access_key !== address.access_key) return ['url']
  if (file_id !== undefined && file_id !== address.id)
    return ['url', 'This is the address of a file other than the one that `file_id` names.']
  return null
}

/**
 * Fills in `file_id` and `url` of each image that is a file of the organisation, and refuses files that the message may
 * not show. The guards abort the change when such a file was deleted or hidden after this check.
 */
export async function resolveImages(
  ctx: Ctx,
  row: MessageDetailRow,
  blocks: readonly Block[],
): Promise<{ blocks: Block[]; guards: Statement[] }> {
  const { files: fileServer, publicUrl } = ctx.config
  const parseAddress = (data: ImageData): ParsedAddress => parseFileAddress(data.url, [fileServer.url, publicUrl])
  const images = listImages(blocks)
  const ids = new Set(
    images.flatMap(({ data }) => [data.file_id, parseAddress(data)?.id].filter((id) => id !== undefined)),
  )
  if (images.every(({ data }) => data.file_id === undefined && parseAddress(data) === undefined))
    return { blocks: [...blocks], guards: [] }
  const rows = await ctx.db.all(
    select(imageColumns)
      .from(fileTable)
      .where(isShowableIn(ctx, row, [...ids])),
  )
  const files = new Map(rows.map((file) => [file.id, file]))
  const faults = images.flatMap(({ data, path }) => {
    const [field, detail] = findImageFault(data, parseAddress(data), files) ?? []
    if (field === undefined) return []
    return [
      detail === undefined ? imageMissing([...path, field]) : fieldError([...path, field], 'file_mismatch', detail),
    ]
  })
  if (faults.length) throw invalid(...faults)
  const resolvedBlocks = mapImages(blocks, (data) => {
    const address = parseAddress(data)
    const file = files.get(data.file_id ?? address?.id ?? '')
    if (!file) return data
    const variant = address?.variant ?? pickMailVariant(file)
    return { ...data, file_id: file.id, url: buildFileAddress(fileServer.url, file, variant) }
  })
  const count = sql`(select count(*) from files where ${isShowableIn(ctx, row, [...ids])})`
  return { blocks: resolvedBlocks, guards: [abortUnless(sql`${count} = ${ids.size}`)] }
}
