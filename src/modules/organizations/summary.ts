import type { z } from '@hono/zod-openapi'
import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { selectAccessKey } from '../../db/images.ts'
import { organizations } from '../../db/schema/organizations.ts'
import type { RowOf, Nullable } from '../../db/select.ts'
import { buildImageOrNull } from '../../domain/files/addresses.ts'
import type { OrganizationSummary } from '../../http/fields.ts'

/** The columns of `organizations` for a summary. */
export const organizationSummaryFields = {
  organization_id: organizations.id,
  organization_name: organizations.name,
  organization_slug: organizations.slug,
  organization_avatar_id: organizations.avatar_file_id,
  /** The access key of the avatar, or null. */
  organization_avatar_key: sql<string | null>`${selectAccessKey(sql`${organizations.avatar_file_id}`)}`,
}

export type OrganizationSummaryRow = RowOf<typeof organizationSummaryFields>

export const presentOrganizationSummary = (
  row: OrganizationSummaryRow,
  { config }: Pick<Ctx, 'config'>,
): z.input<typeof OrganizationSummary> => ({
  id: row.organization_id,
  name: row.organization_name,
  slug: row.organization_slug,
  avatar: buildImageOrNull(config.files.url, row.organization_avatar_id, row.organization_avatar_key),
})

const hasOrganization = (row: Nullable<OrganizationSummaryRow>): row is OrganizationSummaryRow =>
  row.organization_id !== null

export const presentOrganizationOrNull = (
  row: Nullable<OrganizationSummaryRow>,
  ctx: Pick<Ctx, 'config'>,
): z.input<typeof OrganizationSummary> | null => (hasOrganization(row) ? presentOrganizationSummary(row, ctx) : null)
