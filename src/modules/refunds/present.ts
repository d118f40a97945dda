import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { mayAt, pickOrganizationRoles, type RoleCode, roleCodes } from '../../domain/accounts/access.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { toMajor } from '../../domain/money.ts'
import { hiddenFailure } from '../../domain/refunds/payment-checks.ts'
import { refundLifecycle } from '../../domain/refunds/refunds.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { describeWait, presentWait } from '../../domain/waiting.ts'
import { presentEditionSummary } from '../editions/index.ts'
import { presentOrganizationSummary } from '../organizations/index.ts'
import { presentImages } from '../purchases/index.ts'
import { type AllowedAction, approveRefundRequest, type RefundRequest } from './contract.ts'
import { mayReject } from './decisions/reject.ts'
import type { RefundDetailRow } from './queries.ts'

type RequestWire = z.input<typeof RefundRequest>

const presentPurchase = (row: RefundDetailRow, ctx: Ctx): RequestWire['purchase'] =>
  row.purchase_id === null || row.product_id === null
    ? null
    : {
        id: row.purchase_id,
        vendor_code: row.vendor_code,
        product: {
          api_id: row.product_id,
          name: row.product_name ?? '',
          is_draft: row.product_is_draft ?? false,
          images: presentImages(row.product_images, ctx),
        },
        variant: row.variant_id === null ? null : { api_id: row.variant_id, name: row.variant_name ?? '' },
      }

const roles: readonly RoleCode[] = approveRefundRequest.roles

function listAllowedActions(row: RefundDetailRow, ctx: Ctx): AllowedAction[] {
  const { organization_id, edition_id, status } = row
  if (!mayAt(ctx.caller, roles, { organization_id, editions: [edition_id] })) return []
  const canBecome = (target: (typeof refundLifecycle.states)[number]) => refundLifecycle.allows(status, target)
  return [
    ...(canBecome('approved') ? (['approve'] as const) : []),
    ...(mayReject(ctx, row) ? (['reject'] as const) : []),
    ...(canBecome('cancelled') && row.requested_by === ctx.caller.id ? (['cancel'] as const) : []),
    ...(status === 'failed' ? (['retry'] as const) : []),
    ...(status === 'processing' && row.service === 'manual' ? (['settle'] as const) : []),
  ]
}

const organizationRoles = pickOrganizationRoles(roleCodes)

function presentFailure(row: RefundDetailRow, ctx: Ctx): Pick<RequestWire, 'failure_code' | 'failure_message'> {
  const { organization_id, edition_id } = row
  const isHidden =
    row.is_failure_hidden && !mayAt(ctx.caller, organizationRoles, { organization_id, editions: [edition_id] })
  const { code, message } = isHidden ? hiddenFailure : { code: row.failure_code, message: row.failure_message }
  return { failure_code: code, failure_message: message }
}

const toMajorOrNull = (minor: number | null): number | null => (minor === null ? null : toMajor(minor))

const presentAmounts = (row: RefundDetailRow) => ({
  currency: row.currency,
  requested_amount: toMajor(row.requested_minor),
  approved_amount: toMajorOrNull(row.approved_minor),
  refunded_amount: toMajor(row.refunded_minor),
  breakdown: {
    price: toMajor(row.price_minor),
    deposit: toMajor(row.deposit_minor),
    handling_fee: toMajor(row.handling_fee_minor),
    service_fee: toMajor(row.service_fee_minor),
  },
})

export const presentRefund = (row: RefundDetailRow, ctx: Ctx): RequestWire => ({
  id: row.id,
  status: row.status,
  target: row.target,
  organization: presentOrganizationSummary(row, ctx),
  edition: presentEditionSummary(row),
  order: { id: row.order_id, order_number: row.order_number, external_id: row.order_external_id },
  purchase: presentPurchase(row, ctx),
  transaction_id: row.transaction_id,
  refund_batch_id: row.batch_id,
  customer: { api_id: row.customer_id, full_name: formatFullName(row), email: row.email },
  ...presentAmounts(row),
  reason: row.reason,
  comment: row.comment,
  source: row.source,
  include_fees: row.include_fees,
  cancel_purchase: row.cancel_purchase,
  notify_customer: row.notify_customer,
  requested_by: row.requested_by,
  is_own: row.requested_by === ctx.caller.id,
  reviewed_by: row.reviewed_by,
  reviewed_at: toIsoOrNull(row.reviewed_at),
  rejection_reason: row.rejection_reason,
  note: row.note,
  service: row.service,
  ...presentFailure(row, ctx),
  provider_reference: row.provider_reference,
  attempts: row.attempts,
  // A provider is also asked about refunds that do not wait.
  ...presentWait(describeWait(row, row.status === 'completed' ? null : row.due_at, ctx)),
  completed_at: toIsoOrNull(row.completed_at),
  allowed_actions: listAllowedActions(row, ctx),
  metadata: row.metadata,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
