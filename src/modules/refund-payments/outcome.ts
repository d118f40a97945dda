import { eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { requireOneChange } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import type { RefundRow } from '../../db/rows.ts'
import { refundRequests } from '../../db/schema/refunds.ts'
import { updateVersion } from '../../db/write.ts'
import { toMajor } from '../../domain/money.ts'
import { computeNextCheck } from '../../domain/refunds/refund-payments.ts'
import type { RefundOutcome } from '../../gateways/payments/payments.ts'
import { buildCompletion, type RefundChanges } from './complete.ts'
import { buildFailure, buildReversal } from './fail.ts'
import { buildRefundAudit, getAmount } from './refund.ts'

type Failed = Extract<RefundOutcome, { state: 'failed' }>

const noChanges: RefundChanges = { statements: [], announcements: [] }

/** Returns when the attempt began or, for a refund that was made at the provider, when it was recorded. */
export const getStartTime = (refund: RefundRow): number => refund.provider_key_at ?? refund.created_at

async function complete(job: JobCtx, refund: RefundRow, provider_reference: string | null): Promise<RefundChanges> {
  const { statements, announcements } = await buildCompletion(job, refund, { provider_reference })
  const after = { status: 'completed', refunded_amount: toMajor(getAmount(refund)), provider_reference }
  const entry = buildRefundAudit(job, 'completeRefund', refund, { before: { status: refund.status }, after })
  return { statements: [...statements, entry], announcements }
}

async function fail(job: JobCtx, refund: RefundRow, failure: Failed): Promise<RefundChanges> {
  const { statements, announcements } = await buildFailure(job, refund, failure)
  const after = { status: 'failed', failure_code: failure.code }
  const entry = buildRefundAudit(job, 'failRefund', refund, { before: { status: refund.status }, after })
  return { statements: [...statements, entry], announcements }
}

async function reverse(job: JobCtx, refund: RefundRow, failure: Failed): Promise<RefundChanges> {
  const { statements, announcements } = await buildReversal(job, refund, failure)
  const before = { status: refund.status, refunded_amount: toMajor(refund.refunded_minor) }
  const after = { status: 'failed', refunded_amount: 0, failure_code: failure.code }
  return {
    statements: [...statements, buildRefundAudit(job, 'takeBackRefund', refund, { before, after })],
    announcements,
  }
}

/** Schedules the next check of a refund whose outcome is not known yet. */
function scheduleCheck(
  job: JobCtx,
  refund: RefundRow,
  outcome: Extract<RefundOutcome, { state: 'completed' | 'pending' | 'unknown' }>,
): RefundChanges {
  const now = job.now()
  const isUnknown = outcome.state === 'unknown'
  const provider_reference = (isUnknown ? null : outcome.provider_reference) ?? refund.provider_reference
  const reason = isUnknown ? outcome.message : null
  const state = { began_at: getStartTime(refund), checks: refund.checks, is_accepted: provider_reference !== null }
  const { due_at, needs_attention } = computeNextCheck(state, now)
  // A check that finds nothing new keeps the version of the request.
  const hasChanged =
    provider_reference !== refund.provider_reference ||
    (needs_attention && !refund.needs_attention) ||
    reason !== refund.waiting_reason
  const increment = hasChanged ? 1 : 0
  return {
    statements: [
      sql`update refund_requests set due_at = ${due_at}, claimed_until = null, checks = checks + 1,
          needs_attention = max(needs_attention, ${Number(needs_attention)}), waiting_reason = ${reason},
          waiting_since = ${reason === null ? null : (refund.waiting_since ?? now)},
          provider_reference = ${provider_reference}, modified_at = iif(${increment}, ${now}, modified_at),
          version = version + ${increment}
        where id = ${refund.id} and version = ${refund.version} and ${eq(refundRequests.status, 'processing')}`,
      requireOneChange(),
    ],
    announcements: [],
  }
}

/** Flags a refund that the provider has paid although its status does not allow that. */
export const flagRefund = (job: JobCtx, refund: RefundRow): Statement[] =>
  refund.needs_attention ? [] : updateVersion(refundRequests, refund, { needs_attention: true, modified_at: job.now() })

/** Builds the changes that follow from an outcome of the current attempt; none when the status does not allow them. */
export async function buildOutcomeChanges(
  job: JobCtx,
  refund: RefundRow,
  outcome: RefundOutcome,
): Promise<RefundChanges> {
  const { status } = refund
  if (status === 'processing') {
    if (outcome.state === 'completed') return complete(job, refund, outcome.provider_reference)
    if (outcome.state === 'failed') return fail(job, refund, outcome)
    return scheduleCheck(job, refund, outcome)
  }
  if (status === 'completed' && outcome.state === 'failed') return reverse(job, refund, outcome)
  return noChanges
}

/**
 * Builds the changes that follow from an outcome of an earlier attempt. If that one was paid, no further one is made.
 */
export const buildEarlierOutcomeChanges = async (
  job: JobCtx,
  refund: RefundRow,
  outcome: RefundOutcome,
): Promise<RefundChanges> =>
  refund.status === 'approved' && outcome.state === 'completed'
    ? complete(job, refund, outcome.provider_reference)
    : noChanges
