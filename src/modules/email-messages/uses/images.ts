import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { abortUnless } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { isShowable, inList } from '../../../db/visibility.ts'
import { files as fileTable } from '../../../db/schema/files/files.ts'
import { type RowOf, select } from '../../../db/select.ts'
import type { Block, ImageData } from '../../../domain/email/blocks/blocks.ts'
import { imagesIn, withImages } from '../../../domain/email/blocks/images.ts'
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

type NamedFile = AddressedFile | null | undefined

/** True for files that the message may show. Files that it already shows stay allowed for every caller. */
const mayBeShown = (ctx: Ctx, row: MessageDetailRow, ids: readonly string[]) =>
  sql`${inList(sql`files.id`, ids)} and (${isShowable(ctx.caller, row)} or exists (select 1 from email_message_images
    where email_message_images.message_id = ${row.id} and email_message_images.file_id = files.id))`

const noImage = (path: (string | number)[]): FieldError =>
  fieldError(path, 'does_not_exist', 'The organisation has no file with this id or address that is a ready image.')

/** The fault in the id or the address by which an image names its file, as a field and a detail. */
function faultOf(
  data: ImageData,
  named: NamedFile,
  files: ReadonlyMap<string, ImageFile>,
): ['file_id' | 'url', string?] | null {
  const { file_id } = data
  if (file_id === undefined && named === undefined) return null
  if (file_id !== undefined && !files.has(file_id)) return ['file_id']
  if (named === undefined)
    return data.url === '' ? null : ['url', 'This is not an address of the file that `file_id` names.']
  if (named === null || files.get(named.id)?.access_key !== named.access_key) return ['url']
  if (file_id !== undefined && file_id !== named.id)
    return ['url', 'This is the address of a file other than the one that `file_id` names.']
  return null
}

/**
 * The blocks with the id and the address of each image's file, and a statement that aborts the change when one of those
 * files may not be shown any more. Refuses each image whose file the message may not show.
 */
export async function resolveImages(
  ctx: Ctx,
  row: MessageDetailRow,
  blocks: readonly Block[],
): Promise<{ blocks: Block[]; stands: Statement[] }> {
  const { files: served, publicUrl } = ctx.config
  const nameOf = (data: ImageData): NamedFile => parseFileAddress(data.url, [served.url, publicUrl])
  const images = imagesIn(blocks)
  const ids = new Set(images.flatMap(({ data }) => [data.file_id, nameOf(data)?.id].filter((id) => id !== undefined)))
  if (images.every(({ data }) => data.file_id === undefined && nameOf(data) === undefined))
    return { blocks: [...blocks], stands: [] }
  const rows = await ctx.db.all(
    select(imageColumns)
      .from(fileTable)
      .where(mayBeShown(ctx, row, [...ids])),
  )
  const files = new Map(rows.map((file) => [file.id, file]))
  const faults = images.flatMap(({ data, path }) => {
    const [field, detail] = faultOf(data, nameOf(data), files) ?? []
    if (field === undefined) return []
    return [detail === undefined ? noImage([...path, field]) : fieldError([...path, field], 'file_mismatch', detail)]
  })
  if (faults.length) throw invalid(...faults)
  const resolved = withImages(blocks, (data) => {
    const named = nameOf(data)
    const file = files.get(data.file_id ?? named?.id ?? '')
    if (!file) return data
    const variant = named?.variant ?? pickMailVariant(file)
    return { ...data, file_id: file.id, url: buildFileAddress(served.url, file, variant) }
  })
  const count = sql`(select count(*) from files where ${mayBeShown(ctx, row, [...ids])})`
  return { blocks: resolved, stands: [abortUnless(sql`${count} = ${ids.size}`)] }
}
