import { eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { requireOneChange } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { refundRequests, type RefundRow } from '../../db/schema/sales/refunds.ts'
import { updateVersion } from '../../db/write.ts'
import { toMajor } from '../../domain/money.ts'
import { nextCheck } from '../../domain/refunds/refund-payments.ts'
import type { RefundOutcome } from '../../gateways/payments/payments.ts'
import { auditRefund } from './audit.ts'
import { completionStatements, type RefundChanges } from './complete.ts'
import { failureStatements, takenBackStatements } from './fail.ts'
import { amountOf } from './refund.ts'

type Failed = Extract<RefundOutcome, { state: 'failed' }>

const nothing: RefundChanges = { statements: [], announcements: [] }

/** When the attempt began, or the provider's own refund was recorded. */
export const beganAt = (refund: RefundRow): number => refund.provider_key_at ?? refund.created_at

async function complete(job: JobCtx, refund: RefundRow, provider_reference: string | null): Promise<RefundChanges> {
  const { statements, announcements } = await completionStatements(job, refund, { provider_reference })
  const after = { status: 'completed', refunded_amount: toMajor(amountOf(refund)), provider_reference }
  const entry = auditRefund(job, 'completeRefund', refund, { before: { status: refund.status }, after })
  return { statements: [...statements, entry], announcements }
}

async function fail(job: JobCtx, refund: RefundRow, failure: Failed): Promise<RefundChanges> {
  const { statements, announcements } = await failureStatements(job, refund, failure)
  const after = { status: 'failed', failure_code: failure.code }
  const entry = auditRefund(job, 'failRefund', refund, { before: { status: refund.status }, after })
  return { statements: [...statements, entry], announcements }
}

async function takeBack(job: JobCtx, refund: RefundRow, failure: Failed): Promise<RefundChanges> {
  const { statements, announcements } = await takenBackStatements(job, refund, failure)
  const before = { status: refund.status, refunded_amount: toMajor(refund.refunded_minor) }
  const after = { status: 'failed', refunded_amount: 0, failure_code: failure.code }
  return { statements: [...statements, auditRefund(job, 'takeBackRefund', refund, { before, after })], announcements }
}

/** The outcome is still open: the refund is checked again later. */
function wait(job: JobCtx, refund: RefundRow, reference: string | null): RefundChanges {
  const now = job.now()
  const provider_reference = reference ?? refund.provider_reference
  const state = { began_at: beganAt(refund), checks: refund.checks, is_taken: provider_reference !== null }
  const { due_at, needs_attention } = nextCheck(state, now)
  // A check without news does not change the version of the request.
  const isNews = provider_reference !== refund.provider_reference || (needs_attention && !refund.needs_attention)
  const raise = isNews ? 1 : 0
  return {
    statements: [
      sql`update refund_requests set due_at = ${due_at}, lease_until = null, checks = checks + 1,
          needs_attention = max(needs_attention, ${Number(needs_attention)}),
          provider_reference = ${provider_reference}, modified_at = iif(${raise}, ${now}, modified_at),
          version = version + ${raise}
        where id = ${refund.id} and version = ${refund.version} and ${eq(refundRequests.status, 'processing')}`,
      requireOneChange(),
    ],
    announcements: [],
  }
}

/** Flags the refund for a manual check: the provider paid, and the refund's status does not allow that. */
export const flagStatements = (job: JobCtx, refund: RefundRow): Statement[] =>
  refund.needs_attention ? [] : updateVersion(refundRequests, refund, { needs_attention: true, modified_at: job.now() })

/** The changes by an outcome of the refund's current attempt. There are none where its status does not allow them. */
export async function changesBy(job: JobCtx, refund: RefundRow, outcome: RefundOutcome): Promise<RefundChanges> {
  const { status } = refund
  if (status === 'processing') {
    if (outcome.state === 'completed') return complete(job, refund, outcome.provider_reference)
    if (outcome.state === 'failed') return fail(job, refund, outcome)
    return wait(job, refund, outcome.state === 'pending' ? outcome.provider_reference : null)
  }
  if (status === 'completed' && outcome.state === 'failed') return takeBack(job, refund, outcome)
  return nothing
}

/** The changes by an outcome of an earlier attempt: if that one was paid, the next one is not made. */
export const changesByEarlier = async (
  job: JobCtx,
  refund: RefundRow,
  outcome: RefundOutcome,
): Promise<RefundChanges> =>
  refund.status === 'approved' && outcome.state === 'completed'
    ? complete(job, refund, outcome.provider_reference)
    : nothing
