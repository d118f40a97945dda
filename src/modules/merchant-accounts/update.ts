import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { merchantAccounts } from '../../db/schema/editions.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import type { UpdateMerchantAccountInput } from './contract.ts'
import type { MerchantAccountRow } from './queries.ts'
import { checkFields } from './rules.ts'
import { changedSecrets } from './secrets.ts'

/** The columns that the request names. */
function requestedColumns(input: UpdateMerchantAccountInput): Partial<MerchantAccountRow> {
  const { name, description, provider_account, supported_currencies, settle_manually, is_active } = input
  const asked = { name, description, provider_account, supported_currencies, settle_manually, is_active }
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
}

export async function updateMerchantAccount(
  ctx: Ctx,
  row: MerchantAccountRow,
  input: UpdateMerchantAccountInput,
): Promise<MerchantAccountRow> {
  checkFields(row.type, input, ctx.config.environment)
  const columns = pickChanges<MerchantAccountRow>(row, requestedColumns(input))
  const asked = { ...columns, ...(await changedSecrets(ctx, row, input)) }
  if (isEmpty(asked)) return commit(ctx, row, [])
  const changes = { ...asked, modified_at: ctx.now() }
  return commit(ctx, { ...row, ...changes, version: row.version + 1 }, updateVersion(merchantAccounts, row, changes))
}
