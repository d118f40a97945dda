import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { categories } from '../../../db/schema/catalog.ts'
import { select } from '../../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { notFound } from '../../../domain/errors.ts'
import { withTenant } from '../rows.ts'

export type CategoryRow = typeof categories.$inferSelect

export const categoryColumns = getTableColumns(categories)

export const categoryVisibility = buildVisibility(sql`${categories.organization_id}`, sql`${categories.edition_id}`)

export async function findCategory(ctx: Ctx, id: string): Promise<CategoryRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(categoryColumns)
      .from(categories)
      .where(and(eq(categories.id, id), isVisibleTo(ctx.caller, categoryVisibility))),
  )
  if (!row) throw notFound()
  return withTenant(row)
}
