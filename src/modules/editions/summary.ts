import type { z } from '@hono/zod-openapi'
import { type SQL, sql } from 'drizzle-orm'
import { toIsoOrNull } from '../../domain/instants.ts'
import type { EditionSummary } from '../../http/fields.ts'

export interface EditionSummaryRow {
  edition_id: string
  edition_full_name: string
  edition_slug: string
  edition_start_at: number | null
  edition_end_at: number | null
  edition_timezone: string
  edition_is_draft: number
  edition_published_at: number | null
}

/** Columns of a joined `editions` of its summary. */
export const editionSummaryColumns: SQL = sql`editions.id as edition_id, editions.full_name as edition_full_name,
  editions.slug as edition_slug, editions.start_at as edition_start_at, editions.end_at as edition_end_at,
  editions.timezone as edition_timezone, editions.is_draft as edition_is_draft,
  editions.published_at as edition_published_at`

export const presentEditionSummary = (row: EditionSummaryRow): z.input<typeof EditionSummary> => ({
  id: row.edition_id,
  full_name: row.edition_full_name,
  slug: row.edition_slug,
  start_date: toIsoOrNull(row.edition_start_at),
  end_date: toIsoOrNull(row.edition_end_at),
  timezone: row.edition_timezone,
  is_draft: row.edition_is_draft === 1,
  published_at: toIsoOrNull(row.edition_published_at),
})
