import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { claimUntil, isClaimable, isClaimed, release } from '../../../db/claims.ts'
import { inList } from '../../../db/conditions.ts'
import { isPaymentOfOtherEdition, mayBePaymentOfOtherEdition } from '../../../db/refunds.ts'
import type { RefundRow } from '../../../db/rows.ts'
import { refundRequests } from '../../../db/schema/refunds.ts'
import { decodeAs } from '../../../db/select.ts'
import { update } from '../../../db/write.ts'
import type { PaymentCheck } from '../../../domain/refunds/payment-checks.ts'
import { computeNextCheck, refundClaimMs } from '../../../domain/refunds/refund-payments.ts'
import { refundLifecycle } from '../../../domain/refunds/refunds.ts'
import type { PaymentReferences } from '../../../gateways/payments/payments.ts'

const columns = getTableColumns(refundRequests)
const target = 'processing'

/** Claims due refunds, longest due first. No other consumer gets them before the claim ends. */
export const claimRefunds = (job: JobCtx, count: number): Promise<RefundRow[]> => {
  const now = job.now()
  return job.db.all(
    decodeAs(
      columns,
      sql<RefundRow>`update refund_requests set ${claimUntil(now, refundClaimMs)}
        where id in (select id from refund_requests indexed by refund_requests_due
          where due_at <= ${now} and ${isClaimable(now)} order by due_at limit ${count})
        returning *`,
    ),
  )
}

const check = (name: PaymentCheck): SQL => sql`${name}`

/** Decides whose payment this is. Null references: no payment can have the reference. */
function checkPayment(claim: RefundRow, payment: PaymentReferences | null): SQL {
  if (!payment) return sql`null`
  const [organization, edition] = [sql`${claim.organization_id}`, sql`${claim.edition_id}`]
  const isDisputed = isPaymentOfOtherEdition(organization, edition, sql`${JSON.stringify(payment.references)}`)
  const mayBeOfOtherEdition = mayBePaymentOfOtherEdition(claim.organization_id, edition, payment.unread_prefixes)
  return sql`case when is_approved_by_organization = 0 and ${isDisputed} then ${check('disputed')}
    when ${mayBeOfOtherEdition} then ${check('unreadable')} else ${check('own')} end`
}

/**
 * Stores the idempotency key of the next attempt, whose result is unknown until a response is recorded. The same
 * statement decides whose payment this is, so all calls with the key are for the same payment. It also extends the
 * claim. Returns null when another consumer has claimed the refund.
 */
export async function beginAttempt(
  job: JobCtx,
  claim: RefundRow,
  payment: PaymentReferences | null,
): Promise<RefundRow | null> {
  const now = job.now()
  const statement = sql<RefundRow>`update refund_requests set status = ${target},
      attempts = attempts + 1, provider_key = id || ':' || (attempts + 1), provider_key_at = ${now},
      payment_check = ${checkPayment(claim, payment)},
      provider_reference = null, failure_code = null, failure_message = null, checks = 0, needs_attention = 0,
      ${claimUntil(now, refundClaimMs)}, modified_at = ${now}, version = version + 1
    where id = ${claim.id} and version = ${claim.version}
      and ${inList(sql`status`, refundLifecycle.sourcesOf(target))}
      and claimed_until = ${claim.claimed_until} and ${isClaimed(now)}
    returning *`
  const row = await job.db.first(decodeAs(columns, statement))
  return row ?? null
}

/** Releases a refund that cannot begin now, and schedules the next try. */
export function postponeRefund(job: JobCtx, claim: RefundRow, reason: string): Promise<unknown> {
  const now = job.now()
  const state = { began_at: claim.modified_at, checks: claim.checks, is_accepted: false }
  const { due_at, needs_attention } = computeNextCheck(state, now)
  const changes = {
    due_at,
    needs_attention,
    checks: claim.checks + 1,
    claimed_until: null,
    waiting_reason: reason,
    waiting_since: claim.waiting_since ?? now,
  }
  const isSameClaim = sql`id = ${claim.id} and version = ${claim.version} and claimed_until = ${claim.claimed_until}`
  return job.db.all(update(refundRequests, changes, isSameClaim))
}

export const releaseRefunds = (job: JobCtx, claims: readonly RefundRow[]): Promise<unknown> =>
  job.db.all(sql`update refund_requests set ${release} where (id, claimed_until) in
    (select value ->> 0, value ->> 1
      from json_each(${JSON.stringify(claims.map(({ id, claimed_until }) => [id, claimed_until]))}))`)
