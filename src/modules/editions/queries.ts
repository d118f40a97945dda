import { and, eq, getTableColumns } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { editions } from '../../db/schema/editions.ts'
import { events } from '../../db/schema/editions.ts'
import { files } from '../../db/schema/files.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { editionVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type OrganizationSummaryRow, organizationSummaryFields } from '../organizations/index.ts'

export type EditionRow = typeof editions.$inferSelect
export type EditionListRow = EditionRow & OrganizationSummaryRow
/** `image_key` is the access key of the meta image, or null. */
export type EditionDetailRow = EditionListRow & { event_name: string; image_key: string | null }

export const editionColumns = { ...getTableColumns(editions), ...organizationSummaryFields }

export async function findEdition(ctx: Ctx, id: string): Promise<EditionDetailRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select({ ...editionColumns, event_name: events.name, image_key: files.access_key })
      .from(editions)
      .innerJoin(organizations, eq(organizations.id, editions.organization_id))
      .innerJoin(events, eq(events.id, editions.event_id))
      .leftJoin(files, eq(files.id, editions.meta_image_id))
      .where(and(eq(editions.id, id), isVisibleTo(ctx.caller, editionVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.id] } }
}
