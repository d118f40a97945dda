import type { JobCtx } from '../../context.ts'

/** Enqueues the background work of these imports. */
export const enqueueImports = (
  job: Pick<JobCtx, 'jobQueue'>,
  rows: readonly { id: string; epoch: number }[],
): Promise<void> =>
  job.jobQueue.enqueue(
    'imports',
    rows.map(({ id, epoch }) => ({ type: 'import.work', import_id: id, epoch })),
  )

/** Enqueues the count of what the orders of an import would do. */
export const enqueuePreview = (job: Pick<JobCtx, 'jobQueue'>, importId: string): Promise<void> =>
  job.jobQueue.enqueue('imports', [{ type: 'import.preview', import_id: importId }])
