import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { toMajor } from '../../domain/money.ts'
import { countAvailableUses } from '../../domain/orders/purchases.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { presentEditionSummary } from '../editions/index.ts'
import { presentOrganizationSummary } from '../organizations/index.ts'
import { presentWalletPassSummary } from '../wallet/index.ts'
import type { Purchase, PurchaseDetail, PurchaseListItem, PurchaseUse, PurchaseUseResult } from './contract.ts'
import { presentProductFields, presentLocation } from './product-fields.ts'
import type {
  PurchaseDetailRow,
  PurchaseListRow,
  PurchaseSummaryRow,
  PurchaseUseRow,
  RefundSummaryRow,
} from './queries.ts'
import type { LoadedUse } from './uses/use-queries.ts'

export const presentPurchase = (row: PurchaseSummaryRow, ctx: Ctx): z.input<typeof Purchase> => ({
  id: row.id,
  vendor_code: row.vendor_code,
  status: row.status,
  ...presentProductFields(row, ctx),
  user: { api_id: row.user_id, full_name: formatFullName(row), email: row.email },
  price_paid: toMajor(row.price_minor),
  deposit_paid: toMajor(row.deposit_minor),
  handling_fee_paid: toMajor(row.handling_fee_minor),
  max_available_refund_amount: toMajor(row.remaining_minor),
  available_uses: countAvailableUses(row),
  is_unlimited_use: row.is_unlimited_use,
  valid_until: toIsoOrNull(row.valid_until),
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export const presentPurchaseListItem = (row: PurchaseListRow, ctx: Ctx): z.input<typeof PurchaseListItem> => ({
  ...presentPurchase(row, ctx),
  order: { id: row.order_id, order_number: row.order_number, external_id: row.order_external_id },
})

const presentUse = (row: PurchaseUseRow): z.input<typeof PurchaseUse> => ({
  id: row.id,
  quantity: row.quantity,
  location: presentLocation(row),
  used_at: toIso(row.used_at),
  reverted_at: toIsoOrNull(row.reverted_at),
  created: toIso(row.created_at),
})

export const presentUseResult = (row: LoadedUse): z.input<typeof PurchaseUseResult> => ({
  ...presentUse(row),
  purchase: {
    id: row.purchase.id,
    vendor_code: row.purchase.vendor_code,
    status: row.purchase.status,
  },
})

const presentRefundSummary = (row: RefundSummaryRow): z.input<typeof PurchaseDetail>['refund_requests'][number] => ({
  id: row.id,
  status: row.status,
  requested_amount: toMajor(row.requested_minor),
  created: toIso(row.created_at),
})

export const presentPurchaseDetail = (row: PurchaseDetailRow, ctx: Ctx): z.input<typeof PurchaseDetail> => ({
  ...presentPurchase(row, ctx),
  order: {
    id: row.order_id,
    order_number: row.order_number,
    external_id: row.order_external_id,
    type: row.order_type,
    status: row.order_status,
  },
  organization: presentOrganizationSummary(row, ctx),
  edition: presentEditionSummary(row),
  currency: row.currency,
  transaction_id: row.transaction_id,
  refunded_amount: toMajor(row.refunded_minor),
  pending_refund_amount: toMajor(row.reserved_minor),
  uses: row.uses.map(presentUse),
  wallet_passes: row.wallet_passes.map(presentWalletPassSummary),
  refund_requests: row.refund_requests.map(presentRefundSummary),
  metadata: row.metadata,
})
