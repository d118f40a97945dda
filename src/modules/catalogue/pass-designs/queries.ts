import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { selectAccessKey } from '../../../db/images.ts'
import { passDesigns } from '../../../db/schema/wallet.ts'
import { select } from '../../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { notFound } from '../../../domain/errors.ts'
import { withTenant } from '../rows.ts'

/** `logo_key` is the access key of the logo, or null. */
export type PassDesignRow = typeof passDesigns.$inferSelect & { logo_key: string | null }

export const passDesignColumns = {
  ...getTableColumns(passDesigns),
  logo_key: sql<string | null>`${selectAccessKey(sql`${passDesigns.logo_image_id}`)}`,
}

export const passDesignVisibility = buildVisibility(sql`${passDesigns.organization_id}`, sql`${passDesigns.edition_id}`)

export async function findPassDesign(ctx: Ctx, id: string): Promise<PassDesignRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(passDesignColumns)
      .from(passDesigns)
      .where(and(eq(passDesigns.id, id), isVisibleTo(ctx.caller, passDesignVisibility))),
  )
  if (!row) throw notFound()
  return withTenant(row)
}
