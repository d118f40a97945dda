import type { JobCtx } from '../context.ts'
import { isHeld } from '../domain/waiting.ts'

type Work<Rest extends unknown[]> = (job: JobCtx, ...rest: Rest) => Promise<unknown>

/**
 * Leaves out work that sends, posts, pays or deletes files while everything that goes out is held. Its rows stay as they
 * are, and the sweeps find them after the release.
 */
export const unlessHeld =
  <Rest extends unknown[]>(work: Work<Rest>) =>
  async (job: JobCtx, ...rest: Rest): Promise<void> => {
    if (!isHeld(job.config)) await work(job, ...rest)
  }
