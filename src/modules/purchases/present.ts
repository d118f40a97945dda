import type { z } from '@hono/zod-openapi'
import { toIso } from '../../domain/instants.ts'
import { toMajor } from '../../domain/money.ts'
import type { OrderStatus, orderTypes } from '../../domain/orders.ts'
import { availableUses, type PurchaseStatus, refundableMinor } from '../../domain/purchases.ts'
import { fullName } from '../../domain/users.ts'
import { presentEditionSummary } from '../editions/index.ts'
import { presentOrganizationSummary } from '../organizations/index.ts'
import { type PassSummaryRow, presentWalletPassSummary } from '../wallet/index.ts'
import { presentBought } from './bought.ts'
import type { Purchase, PurchaseDetail } from './contract.ts'
import type { PurchaseDetailRow, PurchaseRow } from './queries.ts'

export const presentPurchase = (row: PurchaseRow): z.input<typeof Purchase> => ({
  id: row.id,
  vendor_code: row.vendor_code,
  status: row.status as PurchaseStatus,
  ...presentBought(row),
  user: { api_id: row.user_id, full_name: fullName(row), email: row.email },
  price_paid: toMajor(row.price_minor),
  deposit_paid: toMajor(row.deposit_minor),
  handling_fee_paid: toMajor(row.handling_fee_minor),
  max_available_refund_amount: toMajor(refundableMinor(row, row.transaction_status)),
  available_uses: availableUses(row),
  is_unlimited_use: row.is_unlimited_use === 1,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export const presentPurchaseDetail = (row: PurchaseDetailRow): z.input<typeof PurchaseDetail> => ({
  ...presentPurchase(row),
  order: {
    id: row.order_id,
    order_number: row.order_number,
    type: row.order_type as (typeof orderTypes)[number],
    status: row.order_status as OrderStatus,
  },
  organization: presentOrganizationSummary(row),
  edition: presentEditionSummary(row),
  currency: row.currency,
  transaction_id: row.transaction_id,
  refunded_amount: 0,
  pending_refund_amount: 0,
  wallet_passes: (JSON.parse(row.wallet_passes) as PassSummaryRow[]).map(presentWalletPassSummary),
  metadata: JSON.parse(row.metadata) as Record<string, unknown>,
})
