import type { z } from '@hono/zod-openapi'
import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { keyOfFile } from '../../db/images.ts'
import { imageOrNull } from '../../domain/files/addresses.ts'
import type { OrganizationSummary } from '../../http/fields.ts'

export interface OrganizationSummaryRow {
  organization_id: string
  organization_name: string
  organization_slug: string
  organization_avatar_id: string | null
  /** Opens the avatar. */
  organization_avatar_key: string | null
}

/** Columns of a joined `organizations` of its summary. */
export const organizationSummaryColumns: SQL = sql`organizations.id as organization_id,
  organizations.name as organization_name, organizations.slug as organization_slug,
  organizations.avatar_file_id as organization_avatar_id,
  ${keyOfFile(sql`organizations.avatar_file_id`)} as organization_avatar_key`

export const presentOrganizationSummary = (
  row: OrganizationSummaryRow,
  { config }: Pick<Ctx, 'config'>,
): z.input<typeof OrganizationSummary> => ({
  id: row.organization_id,
  name: row.organization_name,
  slug: row.organization_slug,
  avatar: imageOrNull(config.files.url, row.organization_avatar_id, row.organization_avatar_key),
})
