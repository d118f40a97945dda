import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { merchantAccounts } from '../../db/schema/merchant-accounts.ts'
import { select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'

export type MerchantAccountRow = typeof merchantAccounts.$inferSelect

export const accountColumns = getTableColumns(merchantAccounts)

/** Merchant accounts belong to the organisation, so roles of an edition do not read them. */
export const accountVisibility = buildVisibility(sql`${merchantAccounts.organization_id}`, sql`null`)

export async function findMerchantAccount(ctx: Ctx, id: string): Promise<MerchantAccountRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(accountColumns)
      .from(merchantAccounts)
      .where(and(eq(merchantAccounts.id, id), isVisibleTo(ctx.caller, accountVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}
