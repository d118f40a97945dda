import { eq, type SQL, sql } from 'drizzle-orm'
import type { Caller } from '../domain/accounts/access.ts'
import { abortUnless } from './commit.ts'
import { files } from './schema/files.ts'
import { buildVisibility, isVisibleTo } from './visibility.ts'

/** The resource that shows an image. */
interface ImageOwner {
  organization_id: string | null
}

/** True for rows of `files` that the caller may use as an image of `owner`: ready images of the same organisation. */
export const isShowable = (caller: Caller, { organization_id }: ImageOwner): SQL =>
  sql`(files.organization_id = ${organization_id} and ${eq(files.purpose, 'image')} and ${eq(files.status, 'ready')}
    and ${isVisibleTo(caller, buildVisibility(sql`files.organization_id`, sql`files.edition_id`))})`

/** Aborts the batch as a lost race if the file was deleted or may no longer be shown. */
export const requireShowable = (caller: Caller, owner: ImageOwner, id: string): SQL =>
  abortUnless(sql`exists (select 1 from files where files.id = ${id} and ${isShowable(caller, owner)})`)

/** The access key of the file whose id is in `column`. */
export const selectAccessKey = (column: SQL): SQL => sql`(select access_key from files where files.id = ${column})`
