import type { z } from '@hono/zod-openapi'
import { type SQL, sql } from 'drizzle-orm'
import type { OrganizationSummary } from '../../http/fields.ts'

export interface OrganizationSummaryRow {
  organization_id: string
  organization_name: string
  organization_slug: string
}

/** Columns of a joined `organizations` that its summary is made of. */
export const organizationSummaryColumns: SQL = sql`organizations.id as organization_id,
  organizations.name as organization_name, organizations.slug as organization_slug`

export const presentOrganizationSummary = (row: OrganizationSummaryRow): z.input<typeof OrganizationSummary> => ({
  id: row.organization_id,
  name: row.organization_name,
  slug: row.organization_slug,
  avatar: null,
})
