import { sql } from 'drizzle-orm'
import { byMoment, type SpannedList } from '../../db/lists/spans/spanned-list.ts'
import { filePurposes } from '../../domain/files/files.ts'

/** Files of organisations. A sweep counts them; triggers follow those that are deleted or moved. */
export const fileSpans: SpannedList = {
  name: 'files',
  table: sql`files`,
  joins: sql``,
  scope: sql`files.organization_id`,
  key: sql`files.created_at`,
  ...byMoment,
  facets: [
    { column: sql`coalesce(files.edition_id, '-')` },
    { column: sql`files.purpose`, values: filePurposes },
    { column: sql`files.mime_type` },
  ],
  hasSums: true,
  hasLongSums: true,
  mostUndivided: 64,
  isSettled: true,
  hasSmallScopes: true,
}
