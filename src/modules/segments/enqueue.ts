import type { JobCtx } from '../../context.ts'

export const enqueueCalculations = (
  job: JobCtx,
  calculations: readonly { id: string; epoch: number }[],
): Promise<void> =>
  job.jobQueue.enqueue(
    'segments',
    calculations.map(({ id, epoch }) => ({ type: 'segment.calculate', segment_id: id, epoch })),
  )
