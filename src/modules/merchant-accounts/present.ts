import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import type { MerchantAccount } from './contract.ts'
import type { MerchantAccountRow } from './queries.ts'

/** The fields are listed one by one, so that no answer contains the encrypted secrets. */
export const presentMerchantAccount = (row: MerchantAccountRow, ctx: Ctx): z.input<typeof MerchantAccount> => ({
  id: row.id,
  organization_id: row.organization_id,
  name: row.name,
  description: row.description,
  type: row.type,
  supported_currencies: [...row.supported_currencies],
  provider_account: row.provider_account,
  has_api_key: row.sealed_api_key !== null,
  api_key_last4: row.api_key_last4,
  api_key_modified: toIsoOrNull(row.api_key_set_at),
  has_webhook_secret: row.sealed_webhook_secret !== null,
  webhook_secret_modified: toIsoOrNull(row.webhook_secret_set_at),
  webhook_url: row.type === 'stripe' ? `${ctx.config.publicUrl}/provider-events/stripe/${row.id}` : null,
  settle_manually: row.settle_manually,
  is_active: row.is_active,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
