import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import type { merchantAccounts } from '../../db/schema/editions.ts'
import { visibilityOf, visible, visibleIn } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type Page, type PageRequest, sortBy } from '../../domain/page.ts'
import type { MerchantAccountFilters, MerchantAccountOrdering } from './contract.ts'

export type MerchantAccountRow = typeof merchantAccounts.$inferSelect

/** Accounts are the organisation's: roles of an edition choose among them and read nothing else of them. */
const accountVisibility = visibilityOf(sql`merchant_accounts.organization_id`, sql`null`)

export function listMerchantAccounts(
  ctx: Ctx,
  page: PageRequest,
  ordering: MerchantAccountOrdering,
  filters: MerchantAccountFilters,
): Promise<Page<MerchantAccountRow>> {
  const { organization_id, type, is_active } = filters
  return paginate<MerchantAccountRow>(ctx.db, page, {
    from: sql`merchant_accounts`,
    key: sql`id`,
    where: [
      visibleIn(ctx.caller, accountVisibility, { organization_id }),
      ...(organization_id ? [sql`organization_id = ${organization_id}`] : []),
      ...(type ? [sql`type = ${type}`] : []),
      ...(is_active === undefined ? [] : [sql`is_active = ${Number(is_active)}`]),
    ],
    sort: sortBy(ordering, '-created', { created: sql`created_at`, modified: sql`modified_at`, name: sql`name` }),
    columns: sql`merchant_accounts.*`,
    joins: sql`join merchant_accounts on merchant_accounts.id = page.key`,
  })
}

export async function findMerchantAccount(ctx: Ctx, id: string): Promise<MerchantAccountRow & { tenant: Tenant }> {
  const row = await ctx.db.first(sql<MerchantAccountRow>`select * from merchant_accounts
    where id = ${id} and ${visible(ctx.caller, accountVisibility)}`)
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [] } }
}
