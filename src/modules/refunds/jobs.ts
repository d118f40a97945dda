import type { JobCtx } from '../../context.ts'
import { recountNext } from '../../db/settle-lists.ts'
import { refundSpans } from './spans.ts'

export const recountRefunds = (job: Pick<JobCtx, 'db' | 'now'>): Promise<void> => recountNext(job, refundSpans)
