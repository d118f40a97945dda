import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { merchantAccounts } from '../../db/schema/merchant-accounts.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { checkMerchantAccount } from '../../domain/refunds/merchant-accounts.ts'
import { buildSortKey } from '../../domain/text/fold.ts'
import type { UpdateMerchantAccountInput } from './contract.ts'
import type { MerchantAccountRow } from './queries.ts'
import { buildSecretChanges } from './secrets.ts'

function readColumns(input: UpdateMerchantAccountInput): Partial<MerchantAccountRow> {
  const { name, description, provider_account, supported_currencies, settle_manually, is_active } = input
  const name_key = name === undefined ? undefined : buildSortKey(name)
  const columns = { name, name_key, description, provider_account, supported_currencies, settle_manually, is_active }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

export async function updateMerchantAccount(
  ctx: Ctx,
  row: MerchantAccountRow,
  input: UpdateMerchantAccountInput,
): Promise<MerchantAccountRow> {
  checkMerchantAccount(row.type, input, ctx.config.environment)
  const inputChanges = pickChanges<MerchantAccountRow>(row, readColumns(input))
  const secretChanges = await buildSecretChanges(ctx, row, input)
  if (isEmpty({ ...inputChanges, ...secretChanges })) return commit(ctx, row, [])
  const changes = { ...inputChanges, ...secretChanges, modified_at: ctx.now() }
  return commit(ctx, { ...row, ...changes, version: row.version + 1 }, updateVersion(merchantAccounts, row, changes))
}
