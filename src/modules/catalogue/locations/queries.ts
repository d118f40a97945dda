import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { locations } from '../../../db/schema/catalog.ts'
import { select } from '../../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { notFound } from '../../../domain/errors.ts'
import { withTenant } from '../rows.ts'

export type LocationRow = typeof locations.$inferSelect

export const locationColumns = getTableColumns(locations)

export const locationVisibility = buildVisibility(sql`${locations.organization_id}`, sql`${locations.edition_id}`)

export async function findLocation(ctx: Ctx, id: string): Promise<LocationRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(locationColumns)
      .from(locations)
      .where(and(eq(locations.id, id), isVisibleTo(ctx.caller, locationVisibility))),
  )
  if (!row) throw notFound()
  return withTenant(row)
}
