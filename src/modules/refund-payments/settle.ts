import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import type { OutageRow } from '../../db/outages.ts'
import type { RefundRow } from '../../db/rows.ts'
import { refundRequests } from '../../db/schema/refunds.ts'
import { select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import { selectWork, type WorkCount } from '../../db/work-counts.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { AppError, notFound } from '../../domain/errors.ts'
import { refundLifecycle } from '../../domain/refunds/refunds.ts'
import { enqueueEmails } from '../transactional-emails/index.ts'
import { announceAll } from '../webhooks/index.ts'
import { buildCompletion } from './complete.ts'
import { getAmount } from './refund.ts'

export type RefundToSettle = RefundRow & { tenant: Tenant }

export const refundVisibility = buildVisibility(
  sql`${refundRequests.organization_id}`,
  sql`${refundRequests.edition_id}`,
)

export async function findRefundToSettle(ctx: Ctx, id: string): Promise<RefundToSettle> {
  const row = await ctx.db.first(
    select(getTableColumns(refundRequests))
      .from(refundRequests)
      .where(and(eq(refundRequests.id, id), isVisibleTo(ctx.caller, refundVisibility))),
  )
  if (!row) throw notFound()
  return { ...row, tenant: { organization_id: row.organization_id, editions: [row.edition_id] } }
}

const buildStatusError = ({ status, service }: RefundRow): AppError =>
  new AppError(
    'invalid_transition',
    status === 'processing'
      ? `This refund is paid by ${service}, not by hand.`
      : `This refund is ${status}. Only refunds that are processing can be settled.`,
    { extra: { current_status: status, allowed_transitions: refundLifecycle.targetsOf(status) } },
  )

/** Completes a refund that was paid by hand. */
export async function settleRefundRequest(ctx: Ctx, refund: RefundToSettle, reference: string): Promise<RefundRow> {
  if (refund.status !== 'processing' || refund.service !== 'manual') throw buildStatusError(refund)
  const { statements, announcements } = await buildCompletion(ctx, refund, { provider_reference: reference })
  const settledRefund: RefundRow = {
    ...refund,
    status: 'completed',
    refunded_minor: getAmount(refund),
    provider_reference: reference,
    completed_at: ctx.now(),
  }
  const result = await commit(ctx, settledRefund, [...statements, ...announceAll(ctx, announcements)])
  ctx.afterCommit(() => enqueueEmails(ctx))
  return result
}

const outagesAtOnce = 200

/** Selects the refund of each merchant account that has waited for its provider longest. Nobody calls one for a person. */
export const selectRefundWaits: SQL<OutageRow> = sql`select 'payments' as service,
    coalesce(merchant_account_id, '') as resource_id, coalesce(waiting_reason, '') as reason, min(waiting_since) as since,
    due_at as next_attempt_at
  from refund_requests indexed by refund_requests_waiting where waiting_since is not null and due_at is not null
  group by merchant_account_id limit ${outagesAtOnce}`

export const selectRefundWork = (now: number): SQL<WorkCount> =>
  selectWork(now, {
    kind: 'refund_requests',
    from: sql`refund_requests indexed by refund_requests_due`,
    where: sql`due_at is not null`,
    dueAt: sql`due_at`,
  })
