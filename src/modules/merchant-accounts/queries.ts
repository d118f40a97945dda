import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { merchantAccounts } from '../../db/schema/merchant-accounts.ts'
import { select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo, isVisibleIn } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { MerchantAccountFilters, MerchantAccountOrdering } from './contract.ts'

export type MerchantAccountRow = typeof merchantAccounts.$inferSelect

const columns = getTableColumns(merchantAccounts)

/** Merchant accounts belong to the organisation, so roles of an edition do not read them. */
const accountVisibility = buildVisibility(sql`${columns.organization_id}`, sql`null`)

export function listMerchantAccounts(
  ctx: Ctx,
  page: PageRequest,
  ordering: MerchantAccountOrdering,
  filters: MerchantAccountFilters,
): Promise<Page<MerchantAccountRow>> {
  const { organization_id, type, is_active } = filters
  const { id, name_key, created_at, modified_at } = columns
  return paginate(ctx.db, page, {
    from: sql`${merchantAccounts}`,
    id: sql`${id}`,
    where: [
      isVisibleIn(ctx.caller, accountVisibility, { organization_id }),
      ...(organization_id ? [eq(columns.organization_id, organization_id)] : []),
      ...(type ? [eq(columns.type, type)] : []),
      ...(is_active === undefined ? [] : [eq(columns.is_active, is_active)]),
    ],
    orderBy: buildOrderBy(ordering, '-created', {
      created: sql`${created_at}`,
      modified: sql`${modified_at}`,
      name: sql`${name_key}`,
    }),
    columns,
    joins: sql`join ${merchantAccounts} on ${id} = page.id`,
  })
}

export async function findMerchantAccount(ctx: Ctx, id: string): Promise<MerchantAccountRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(columns)
      .from(merchantAccounts)
      .where(and(eq(columns.id, id), isVisibleTo(ctx.caller, accountVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}
