import type { JobCtx } from '../context.ts'
import { deleteExpiredKeys } from '../db/idempotency.ts'
import { recordSweepRuns } from '../db/sweeps.ts'
import type { SweepOutcome } from '../domain/system.ts'
import { describeError } from '../domain/text/error-text.ts'
import type { Bindings } from '../http/env.ts'
import { logError, logWarning } from '../http/log.ts'
import { sweepAuditLog } from '../modules/audit-log/jobs.ts'
import { sweepSignIns } from '../modules/auth/jobs.ts'
import { sweepCampaigns } from '../modules/campaigns/jobs.ts'
import { sweepProductMerges } from '../modules/catalogue/jobs.ts'
import { sweepConsents, sweepLapsed } from '../modules/consents/jobs.ts'
import { endInterruptedCalls, sweepImportData, sweepImports } from '../modules/data-imports/jobs.ts'
import { sweepCapturedMessages } from '../modules/dev-mailbox/jobs.ts'
import { compareStorage, sweepObjects, sweepScans, sweepUnusedImports, sweepUploads } from '../modules/files/jobs.ts'
import { resealMerchantAccounts } from '../modules/merchant-accounts/jobs.ts'
import { recountOrders } from '../modules/orders/jobs.ts'
import { sweepErasures } from '../modules/personal-data/jobs.ts'
import { sweepPurchases } from '../modules/purchases/jobs.ts'
import { sweepRefundBatches } from '../modules/refund-batches/jobs.ts'
import { sweepPaymentEvents, sweepRefunds } from '../modules/refund-payments/jobs.ts'
import { sweepCalculations, sweepExports, sweepLeftovers } from '../modules/segments/jobs.ts'
import { sweepSignups } from '../modules/signup-forms/jobs.ts'
import { sweepSoftBounces } from '../modules/suppressions/jobs.ts'
import { sweepDeadMessages, sweepOutages } from '../modules/system/jobs.ts'
import { sweepEmails, sweepTestMessages } from '../modules/transactional-emails/jobs.ts'
import { sweepCallbacks, sweepPassUpdates } from '../modules/wallet/jobs.ts'
import { sweepDeliveries, sweepEvents } from '../modules/webhooks/jobs.ts'
import { unlessHeld } from './hold.ts'
import { openCurrentJob } from './job.ts'

/** A sweep handles a limited number of due rows, so a missed minute loses nothing. */
type Sweep = (job: JobCtx) => Promise<unknown>
export type Sweeps = Readonly<Record<string, Sweep>>

/** One line says when a service begins to fail, and one when it works again. */
async function logOutages(job: JobCtx): Promise<void> {
  for (const { message, details } of await sweepOutages(job)) logWarning('sweep:service-outages', message, details)
}

async function moveMergedOrders(job: JobCtx): Promise<void> {
  for (const id of await sweepProductMerges(job))
    logWarning('sweep:product-merges', 'A merge of products lost a race. It is tried again in a minute.', { id })
}

const allSweeps: Sweeps = {
  'forget-expired-keys': ({ db, now }) => deleteExpiredKeys(db, now()),
  'sign-ins': sweepSignIns,
  'dead-messages': sweepDeadMessages,
  'webhook-deliveries': unlessHeld(sweepDeliveries),
  'webhook-events': sweepEvents,
  campaigns: sweepCampaigns,
  'transactional-emails': unlessHeld(sweepEmails),
  'test-messages': sweepTestMessages,
  'consent-confirmations': sweepLapsed,
  consents: (job) => sweepConsents(job),
  signups: sweepSignups,
  'captured-messages': sweepCapturedMessages,
  'segment-calculations': sweepCalculations,
  'segment-leftovers': sweepLeftovers,
  'segment-exports': sweepExports,
  'soft-bounces': sweepSoftBounces,
  imports: sweepImports,
  'interrupted-imports': endInterruptedCalls,
  'import-data': sweepImportData,
  'file-uploads': sweepUploads,
  'file-imports': sweepUnusedImports,
  'file-objects': sweepObjects,
  'file-storage': compareStorage,
  'file-scans': sweepScans,
  'audit-log': sweepAuditLog,
  'order-counts': recountOrders,
  erasures: sweepErasures,
  purchases: (job) => sweepPurchases(job),
  'refund-batches': sweepRefundBatches,
  refunds: unlessHeld(sweepRefunds),
  'payment-events': sweepPaymentEvents,
  'merchant-account-secrets': resealMerchantAccounts,
  'wallet-callbacks': sweepCallbacks,
  'wallet-pass-updates': unlessHeld(sweepPassUpdates),
  // A step of a merge takes many queries, so the other sweeps take theirs first.
  'product-merges': moveMergedOrders,
  'service-outages': unlessHeld(logOutages),
}

/** Runs the sweeps one after the other. A failed sweep is logged and does not stop the others. */
export async function runSweeps(job: JobCtx, sweeps: Sweeps): Promise<Record<string, SweepOutcome>> {
  const outcomes: Record<string, SweepOutcome> = {}
  for (const [name, sweep] of Object.entries(sweeps)) {
    const startedAt = performance.now()
    const error = await sweep(job).then(
      () => null,
      (reason: unknown) => {
        logError(`sweep:${name}`, reason)
        return describeError(reason)
      },
    )
    outcomes[name] = { last_run_at: job.now(), duration_ms: Math.round(performance.now() - startedAt), error }
  }
  return outcomes
}

/** Runs all sweeps, and stores when they ran. */
export const sweepAll = async (job: JobCtx): Promise<void> => recordSweepRuns(job.db, await runSweeps(job, allSweeps))

export async function scheduled({ scheduledTime }: ScheduledController, env: Bindings): Promise<void> {
  const job = await openCurrentJob(env)
  const { clockOffsetMs } = job
  await sweepAll({ ...job, now: () => scheduledTime + (clockOffsetMs?.() ?? 0) })
}
