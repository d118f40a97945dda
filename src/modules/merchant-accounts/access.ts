import { and, eq, getTableColumns } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { merchantAccounts } from '../../db/schema/merchant-accounts.ts'
import { select } from '../../db/select.ts'
import { isPaymentService, isServiceAvailable } from '../../domain/refunds/merchant-accounts.ts'
import type { GatewayAccount } from '../../gateways/payments/payments.ts'
import type { MerchantAccountRow } from './queries.ts'
import { openSecrets } from './secrets.ts'

type AccessCtx = Pick<JobCtx, 'db' | 'config'>

/** A merchant account with its decrypted secrets. It is passed to gateways and never becomes part of an answer. */
export interface DecryptedAccount extends GatewayAccount {
  organization_id: string
  /** Approved refunds wait until a person confirms that they were paid. */
  settle_manually: boolean
  /** An account that is switched off takes no new refunds. Refunds that have begun continue. */
  is_active: boolean
}

/** The columns of a payment that say how it is paid back. */
export interface PaymentRoute {
  organization_id: string
  merchant_account_id: string
  /** The connected account that replaces the account's own; null means that none does. */
  provider_account: string | null
}

const columns = getTableColumns(merchantAccounts)

async function decryptAccount(
  ctx: AccessCtx,
  row: MerchantAccountRow,
  connectedAccount: string | null,
): Promise<DecryptedAccount | null> {
  if (!isPaymentService(row.type) || !isServiceAvailable(row.type, ctx.config.environment)) return null
  return {
    id: row.id,
    service: row.type,
    provider_account: (row.type === 'stripe' ? connectedAccount : null) ?? row.provider_account,
    organization_id: row.organization_id,
    settle_manually: row.settle_manually,
    is_active: row.is_active,
    ...(await openSecrets(ctx, row)),
  }
}

const hasKey = (account: DecryptedAccount): boolean => account.service !== 'stripe' || account.api_key !== null

/**
 * Finds the account that pays a payment back, switched off or not, for refunds that have begun. Returns null when its
 * key is missing or cannot be decrypted, or when its service is not available here.
 */
export async function findRefundAccount(ctx: AccessCtx, route: PaymentRoute): Promise<DecryptedAccount | null> {
  const isAccount = and(eq(columns.id, route.merchant_account_id), eq(columns.organization_id, route.organization_id))
  const row = await ctx.db.first(select(columns).from(merchantAccounts).where(isAccount))
  const account = row ? await decryptAccount(ctx, row, route.provider_account) : null
  return account && hasKey(account) ? account : null
}

/**
 * Finds the account for a new refund. Returns null for one that is switched off, too: the refund gets 409
 * `merchant_not_ready`.
 */
export async function findReadyAccount(ctx: AccessCtx, route: PaymentRoute): Promise<DecryptedAccount | null> {
  const account = await findRefundAccount(ctx, route)
  return account?.is_active ? account : null
}

/**
 * Finds the account that a provider's webhook names, switched off or not. Returns null when it has no webhook secret.
 */
export async function findWebhookAccount(ctx: AccessCtx, id: string): Promise<DecryptedAccount | null> {
  const row = await ctx.db.first(select(columns).from(merchantAccounts).where(eq(columns.id, id)))
  const account = row ? await decryptAccount(ctx, row, null) : null
  return account && account.webhook_secret !== null ? account : null
}
