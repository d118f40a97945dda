import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { editions, merchantAccounts } from '../../db/schema/editions.ts'
import { select } from '../../db/select.ts'
import { isPaymentService, isServiceOpen, overridingAccount } from '../../domain/refunds/merchant-accounts.ts'
import type { MerchantAccountAccess } from '../../gateways/payments/payments.ts'
import type { MerchantAccountRow } from './queries.ts'
import { openSecrets } from './secrets.ts'

type AccessCtx = Pick<JobCtx, 'db' | 'config'>

/** A merchant account as its gateway needs it, with its secrets in the clear: for a gateway alone, never for an answer. */
export interface MerchantAccount extends MerchantAccountAccess {
  organization_id: string
  /** A refund waits until it is recorded as paid by hand. */
  settle_manually: boolean
  /** New refunds may use it. Refunds that have begun continue in any case. */
  is_active: boolean
}

export interface PaidThrough {
  edition_id: string
  /** The account that took the payment; null for that of the edition. */
  merchant_account_id: string | null
}

/** `override` is that of the edition; `{}` where the payment went through another account than the edition's. */
type FoundRow = MerchantAccountRow & { override: string }

const columns = getTableColumns(merchantAccounts)
const { merchant_account_id, merchant_id } = editions

async function open(ctx: AccessCtx, row: FoundRow): Promise<MerchantAccount | null> {
  if (!isPaymentService(row.type) || !isServiceOpen(row.type, ctx.config.environment)) return null
  return {
    id: row.id,
    service: row.type,
    provider_account: overridingAccount(row.override, row.type) ?? row.provider_account,
    organization_id: row.organization_id,
    settle_manually: row.settle_manually,
    is_active: row.is_active,
    ...(await openSecrets(ctx, row)),
  }
}

const hasKey = (account: MerchantAccount): boolean => account.service !== 'stripe' || account.api_key !== null

/**
 * The account by which a payment of the edition is paid back, switched off or not: for refunds that have begun. Null
 * where there is none, or its key is missing or cannot be opened, or its service is closed here. One statement, two rows.
 */
export async function accessOfStarted(ctx: AccessCtx, paid: PaidThrough): Promise<MerchantAccount | null> {
  const override = sql<string>`case when ${columns.id} = ${merchant_account_id} then ${merchant_id} else '{}' end`
  const row = await ctx.db.first(
    select({ ...columns, override })
      .from(editions)
      .innerJoin(
        merchantAccounts,
        and(
          sql`${columns.id} = coalesce(${paid.merchant_account_id}, ${merchant_account_id})`,
          eq(columns.organization_id, editions.organization_id),
        ),
      )
      .where(eq(editions.id, paid.edition_id)),
  )
  const account = row ? await open(ctx, row) : null
  return account && hasKey(account) ? account : null
}

/** As `accessOfStarted`, for refunds that are to begin: an account that is switched off is none. Null is 409 `merchant_not_ready`. */
export async function accessOf(ctx: AccessCtx, paid: PaidThrough): Promise<MerchantAccount | null> {
  const account = await accessOfStarted(ctx, paid)
  return account?.is_active ? account : null
}

/** The account to which a provider posts webhooks, switched off or not; null for one without a secret for them. */
export async function accessOfWebhook(ctx: AccessCtx, id: string): Promise<MerchantAccount | null> {
  const row = await ctx.db.first(select(columns).from(merchantAccounts).where(eq(columns.id, id)))
  const account = row ? await open(ctx, { ...row, override: '{}' }) : null
  return account && account.webhook_secret !== null ? account : null
}
