import type { z } from '@hono/zod-openapi'
import { editions } from '../../db/schema/editions.ts'
import type { RowOf, Nullable } from '../../db/select.ts'
import { toIsoOrNull } from '../../domain/time/instants.ts'
import type { EditionSummary } from '../../http/fields.ts'

/** The columns of `editions` for a summary. */
export const editionSummaryFields = {
  edition_id: editions.id,
  edition_full_name: editions.full_name,
  edition_slug: editions.slug,
  edition_start_at: editions.start_at,
  edition_end_at: editions.end_at,
  edition_timezone: editions.timezone,
  edition_is_draft: editions.is_draft,
  edition_published_at: editions.published_at,
}

export type EditionSummaryRow = RowOf<typeof editionSummaryFields>

export const presentEditionSummary = (row: EditionSummaryRow): z.input<typeof EditionSummary> => ({
  id: row.edition_id,
  full_name: row.edition_full_name,
  slug: row.edition_slug,
  start_date: toIsoOrNull(row.edition_start_at),
  end_date: toIsoOrNull(row.edition_end_at),
  timezone: row.edition_timezone,
  is_draft: row.edition_is_draft,
  published_at: toIsoOrNull(row.edition_published_at),
})

const hasEdition = (row: Nullable<EditionSummaryRow>): row is EditionSummaryRow => row.edition_id !== null

export const presentEditionOrNull = (row: Nullable<EditionSummaryRow>): z.input<typeof EditionSummary> | null =>
  hasEdition(row) ? presentEditionSummary(row) : null
