import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit, abortUnless } from '../../db/commit.ts'
import { merchantAccounts } from '../../db/schema/merchant-accounts.ts'
import { insert } from '../../db/write.ts'
import { AppError } from '../../domain/errors.ts'
import { checkMerchantAccount, maxMerchantAccounts } from '../../domain/refunds/merchant-accounts.ts'
import { buildSortKey } from '../../domain/text/fold.ts'
import { checkTenant } from '../editions/index.ts'
import type { CreateMerchantAccountInput } from './contract.ts'
import type { MerchantAccountRow } from './queries.ts'
import { getLastFour, sealSecrets } from './secrets.ts'

const countAccounts = (organizationId: string) =>
  sql<{ count: number }>`select count(*) as count from merchant_accounts where organization_id = ${organizationId}`

export async function createMerchantAccount(ctx: Ctx, input: CreateMerchantAccountInput): Promise<MerchantAccountRow> {
  const { organization_id, name, description, type, provider_account, api_key, webhook_secret } = input
  // An inactive account can be switched on later, so it is checked like an active one.
  checkMerchantAccount(type, { ...input, is_active: true }, ctx.config.environment)
  await checkTenant(ctx, organization_id, null)
  const countRow = await ctx.db.first(countAccounts(organization_id))
  if ((countRow?.count ?? 0) >= maxMerchantAccounts)
    throw new AppError(
      'too_many_merchant_accounts',
      `An organisation has at most ${maxMerchantAccounts} merchant accounts.`,
    )
  const now = ctx.now()
  const id = ctx.newId('merchant_account')
  const row: MerchantAccountRow = {
    ...(await sealSecrets(ctx, id, { api_key, webhook_secret })),
    id,
    organization_id,
    name,
    name_key: buildSortKey(name),
    description,
    type,
    supported_currencies: input.supported_currencies,
    provider_account,
    api_key_last4: getLastFour(api_key),
    api_key_set_at: api_key === null ? null : now,
    webhook_secret_set_at: webhook_secret === null ? null : now,
    settle_manually: input.settle_manually ?? type === 'manual',
    is_active: input.is_active,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  return commit(ctx, row, [
    abortUnless(sql`(${countAccounts(organization_id)}) < ${maxMerchantAccounts}`),
    insert(merchantAccounts, row),
  ])
}
