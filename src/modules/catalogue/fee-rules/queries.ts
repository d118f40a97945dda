import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { feeRules } from '../../../db/schema/editions.ts'
import { select } from '../../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { notFound } from '../../../domain/errors.ts'

export type FeeRuleRow = typeof feeRules.$inferSelect

export const feeRuleColumns = getTableColumns(feeRules)

/** Fee rules belong to the organisation, so roles of an edition do not read them. */
export const feeRuleVisibility = buildVisibility(sql`${feeRules.organization_id}`, sql`null`)

export async function findFeeRule(ctx: Ctx, id: string): Promise<FeeRuleRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(feeRuleColumns)
      .from(feeRules)
      .where(and(eq(feeRules.id, id), isVisibleTo(ctx.caller, feeRuleVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}
