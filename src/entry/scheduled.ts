import type { JobCtx } from '../context.ts'
import { deleteExpiredKeys } from '../db/idempotency.ts'
import { recordSweepRuns } from '../db/sweeps.ts'
import type { SweepOutcome } from '../domain/system.ts'
import { describeError } from '../domain/text/error-text.ts'
import { type Clock, readSharedTime } from '../domain/time/instants.ts'
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
import { sweepAlarms, sweepDeadMessages, type SweepNotice, sweepOutages } from '../modules/system/jobs.ts'
import { sweepEmails, sweepTestMessages } from '../modules/transactional-emails/jobs.ts'
import { sweepCallbacks, sweepPassUpdates } from '../modules/wallet/jobs.ts'
import { sweepDeliveries, sweepEvents } from '../modules/webhooks/jobs.ts'
import { unlessHeld } from './hold.ts'
import { openCurrentJob } from './job.ts'

/** A sweep handles a limited number of due rows, so a missed minute loses nothing. */
type Sweep = (job: JobCtx) => Promise<unknown>
export type Sweeps = Readonly<Record<string, Sweep>>

/** Logs each beginning and each end that the sweep finds. */
const logNotices =
  (name: string, sweep: (job: JobCtx) => Promise<SweepNotice[]>): Sweep =>
  async (job) => {
    for (const { message, details } of await sweep(job)) logWarning(`sweep:${name}`, message, details)
  }

async function moveMergedOrders(job: JobCtx): Promise<void> {
  for (const id of await sweepProductMerges(job))
    logWarning('sweep:product-merges', 'A merge of products lost a race. It is tried again in a minute.', { id })
}

export const allSweeps = {
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
  // A restore can be undone: the database before it may have an object that the restored one deletes.
  'file-objects': unlessHeld(sweepObjects),
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
  'service-outages': unlessHeld(logNotices('service-outages', sweepOutages)),
  // A receiver of alarms that hangs delays no other sweep.
  alarms: logNotices('alarms', (job) => sweepAlarms(job)),
} satisfies Sweeps

/** The sweeps that run while the run of all sweeps hangs. */
const sweepsOfHangingRun: Sweeps = {
  alarms: logNotices('alarms', (job) => sweepAlarms(job, { isRunHanging: true })),
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

/** A run that takes longer probably hangs. */
const hangingMs = 30_000

/** True if the work ends within the time. */
async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), ms)
  const isEnded = await Promise.race([work.then(() => true), late.promise])
  clearTimeout(timer)
  return isEnded
}

interface Run {
  sweeps?: Sweeps
  hangsAfterMs?: number
  /** The clock at the end of the run. The jobs of a run share the time of its beginning. */
  clock?: Clock
}

/** Runs all sweeps, and stores when they ran. A sweep that hangs keeps no alarm from being posted. */
export async function sweepAll(
  job: JobCtx,
  { sweeps = allSweeps, hangsAfterMs = hangingMs, clock = job }: Run = {},
): Promise<void> {
  const run = runSweeps(job, sweeps)
  if (!(await endsWithin(run, hangsAfterMs))) await runSweeps(job, sweepsOfHangingRun)
  await recordSweepRuns(job.db, await run, readSharedTime(clock))
}

export async function scheduled({ scheduledTime }: ScheduledController, env: Bindings): Promise<void> {
  const job = await openCurrentJob(env)
  const { clockOffsetMs } = job
  await sweepAll({ ...job, now: () => scheduledTime + (clockOffsetMs?.() ?? 0) }, { clock: job })
}
