import { eq, type SQL, sql } from 'drizzle-orm'
import type { Caller } from '../domain/accounts/access.ts'
import { abortUnless } from './commit.ts'
import { files } from './schema/files/files.ts'
import { buildVisibility, isVisible } from './visibility.ts'

interface Shower {
  organization_id: string | null
}

/** True for the rows of `files` that the caller may show: images of the shower's organisation that are ready. */
export const isShowable = (caller: Caller, { organization_id }: Shower): SQL =>
  sql`(files.organization_id = ${organization_id} and ${eq(files.purpose, 'image')} and ${eq(files.status, 'ready')}
    and ${isVisible(caller, buildVisibility(sql`files.organization_id`, sql`files.edition_id`))})`

/** Aborts the batch, as a lost race, where the file is gone meanwhile or is no longer what may be shown. */
export const requireShowable = (caller: Caller, shower: Shower, id: string): SQL =>
  abortUnless(sql`exists (select 1 from files where files.id = ${id} and ${isShowable(caller, shower)})`)

/** The key in the address of the file that `column` names. */
export const selectAccessKey = (column: SQL): SQL => sql`(select access_key from files where files.id = ${column})`
