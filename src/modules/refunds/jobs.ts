import type { JobCtx } from '../../context.ts'
import { divideNext, recountNext } from '../../db/settle-lists.ts'
import { refundSpans } from './spans.ts'

export const recountRefunds = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => recountNext(job, refundSpans)

/** Lets pages of requests by their number begin near their rows. */
export const divideRefundSpans = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => divideNext(job, refundSpans)
