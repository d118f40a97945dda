import type { JobCtx } from '../../../context.ts'
import { claimScans, scanFile } from './scan.ts'

const scansASweep = 20
/** The platform opens six connections for an invocation; one is left for the database. */
const scansAtOnce = 5

/** Asks the scanner again about files whose answer did not come. */
export async function sweepScans(job: JobCtx): Promise<void> {
  if (!job.scanner) return
  const claimed = await claimScans(job, { most: scansASweep })
  const results: PromiseSettledResult<void>[] = []
  for (let start = 0; start < claimed.length; start += scansAtOnce)
    results.push(
      ...(await Promise.allSettled(claimed.slice(start, start + scansAtOnce).map((file) => scanFile(job, file)))),
    )
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
