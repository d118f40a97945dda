import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { AppError } from '../../domain/errors.ts'
import type { MerchantAccountRow } from './queries.ts'

interface AccountReference {
  type: 'edition' | 'order' | 'refund_request'
  id: string
  name: string
}

const maxReferencesPerType = 10

const listReferences = (ctx: Ctx, id: string): Promise<AccountReference[]> =>
  ctx.db.all(sql<AccountReference>`
    select * from (select 'edition' as type, id, full_name as name from editions
      where merchant_account_id = ${id} limit ${maxReferencesPerType})
    union all
    select * from (select distinct 'order' as type, orders.id, coalesce(orders.order_number, orders.id) as name
      from transactions join orders on orders.id = transactions.order_id
      where transactions.merchant_account_id = ${id} limit ${maxReferencesPerType})
    union all
    select * from (select 'refund_request' as type, id, id as name from refund_requests
      where merchant_account_id = ${id} limit ${maxReferencesPerType})
    order by type, id`)

/** Foreign keys keep editions, payments and refunds from using a deleted account. */
export async function deleteMerchantAccount(ctx: Ctx, { id, version }: MerchantAccountRow): Promise<null> {
  const related_objects = await listReferences(ctx, id)
  if (related_objects.length)
    throw new AppError('merchant_account_in_use', 'This merchant account is in use.', { extra: { related_objects } })
  return commit(ctx, null, [
    sql`delete from merchant_accounts where id = ${id} and version = ${version}`,
    requireOneChange(),
  ])
}
