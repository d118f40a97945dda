import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { editions, merchantAccounts } from '../../db/schema/editions.ts'
import { select } from '../../db/select.ts'
import { isPaymentService, isServiceAvailable, readOverridingAccount } from '../../domain/refunds/merchant-accounts.ts'
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

export interface PaymentRoute {
  edition_id: string
  /** The account that took the payment; null means the account of the edition. */
  merchant_account_id: string | null
}

/** `override` is `merchant_id` of the edition, or `{}` when another account than the edition's took the payment. */
type AccountRow = MerchantAccountRow & { override: string }

const columns = getTableColumns(merchantAccounts)
const { merchant_account_id, merchant_id } = editions

async function decryptAccount(ctx: AccessCtx, row: AccountRow): Promise<DecryptedAccount | null> {
  if (!isPaymentService(row.type) || !isServiceAvailable(row.type, ctx.config.environment)) return null
  return {
    id: row.id,
    service: row.type,
    provider_account: readOverridingAccount(row.override, row.type) ?? row.provider_account,
    organization_id: row.organization_id,
    settle_manually: row.settle_manually,
    is_active: row.is_active,
    ...(await openSecrets(ctx, row)),
  }
}

const hasKey = (account: DecryptedAccount): boolean => account.service !== 'stripe' || account.api_key !== null

/**
 * Finds the account that pays a payment back, switched off or not, for refunds that have begun. Returns null when the
 * payment has no account, when its key is missing or cannot be decrypted, or when its service is not available here.
 */
export async function findRefundAccount(ctx: AccessCtx, route: PaymentRoute): Promise<DecryptedAccount | null> {
  const override = sql<string>`case when ${columns.id} = ${merchant_account_id} then ${merchant_id} else '{}' end`
  const row = await ctx.db.first(
    select({ ...columns, override })
      .from(editions)
      .innerJoin(
        merchantAccounts,
        and(
          sql`${columns.id} = coalesce(${route.merchant_account_id}, ${merchant_account_id})`,
          eq(columns.organization_id, editions.organization_id),
        ),
      )
      .where(eq(editions.id, route.edition_id)),
  )
  const account = row ? await decryptAccount(ctx, row) : null
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
  const account = row ? await decryptAccount(ctx, { ...row, override: '{}' }) : null
  return account && account.webhook_secret !== null ? account : null
}
