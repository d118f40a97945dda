import { and, lte, sql } from 'drizzle-orm'
import type { CalculateMessage, JobCtx } from '../../context.ts'
import { inWords } from '../../db/conditions.ts'
import { segmentLeftovers, segments } from '../../db/schema/segments.ts'
import { select } from '../../db/select.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { lostAfterMs, quietAfterMs, type SegmentStatus } from '../../domain/segments.ts'
import { continueCalculation, failCalculation, findCalculation } from './calculation/calculation.ts'
import { leftoverAfterMs } from './calculation/members.ts'
import { enqueueCalculations } from './enqueue.ts'

/** A consumer works this long, then leaves the rest to a new message. */
const workMs = 20_000

export const isCalculateMessage = (body: unknown): body is CalculateMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<CalculateMessage>).type === 'segment.calculate' &&
  typeof (body as Partial<CalculateMessage>).segment_id === 'string' &&
  typeof (body as Partial<CalculateMessage>).epoch === 'number'

async function calculate(job: JobCtx, message: CalculateMessage, endsAt: number, size?: number): Promise<void> {
  const calculation = await findCalculation(job, message.segment_id, message.epoch)
  const step = calculation && (await continueCalculation(job, calculation, endsAt, size))
  if (step?.state === 'calculating') await enqueueCalculations(job, [step.calculation])
}

/** Runs the calculations of these messages. A message of a calculation that has ended does nothing. */
export async function calculateSegments(
  job: JobCtx,
  messages: readonly CalculateMessage[],
  size?: number,
): Promise<void> {
  const endsAt = job.now() + workMs
  await Promise.all(messages.map((message) => calculate(job, message, endsAt, size)))
}

const calculationsPerSweep = 100

const calculatingStatus: SegmentStatus = 'calculating'

/** Enqueues calculations that no consumer works on, and fails those without progress for `lostAfterMs`. */
export async function sweepCalculations(job: JobCtx): Promise<void> {
  const now = job.now()
  const quietSegments = await job.db.all(
    select({ id: segments.id, epoch: segments.epoch, heartbeat_at: segments.heartbeat_at })
      .from(segments)
      .where(and(inWords(sql`${segments.status}`, [calculatingStatus]), lte(segments.heartbeat_at, now - quietAfterMs)))
      .orderBy(segments.heartbeat_at)
      .limit(calculationsPerSweep),
  )
  const isLost = ({ heartbeat_at }: { heartbeat_at: number | null }) => (heartbeat_at ?? 0) <= now - lostAfterMs
  for (const { id, epoch } of quietSegments.filter(isLost)) {
    const calculation = await findCalculation(job, id, epoch)
    if (calculation) await failCalculation(job, calculation, 'The calculation stopped. Start it again.')
  }
  await enqueueCalculations(
    job,
    quietSegments.filter((row) => !isLost(row)),
  )
}

const exportsPerSweep = 500

/** Deletes records of exports after the time that the audit log keeps the same facts. */
export const sweepExports = ({ db, now, config }: Pick<JobCtx, 'db' | 'now' | 'config'>): Promise<unknown> =>
  db.all(sql`delete from segment_exports where id in (select id from segment_exports
    where id < ${firstIdAt('segment_export', now() - config.retentionMs.auditLog)}
    order by id limit ${exportsPerSweep})`)

const leftoversPerSweep = 5
const rowsPerSlice = 10_000

/** Deletes slices of sets that no reader needs any more. */
export async function sweepLeftovers(job: JobCtx): Promise<void> {
  const sets = await job.db.all(
    select({ segment_seq: segmentLeftovers.segment_seq, epoch: segmentLeftovers.epoch })
      .from(segmentLeftovers)
      .where(lte(segmentLeftovers.left_at, job.now() - leftoverAfterMs))
      .orderBy(segmentLeftovers.left_at)
      .limit(leftoversPerSweep),
  )
  for (const { segment_seq, epoch } of sets) {
    const isInSet = sql`segment_seq = ${segment_seq} and epoch = ${epoch}`
    await job.db.batch([
      sql`delete from segment_members where ${isInSet}
        and user_seq in (select user_seq from segment_members where ${isInSet}
          order by user_seq limit ${rowsPerSlice})`,
      sql`delete from segment_leftovers where ${isInSet}
        and not exists (select 1 from segment_members where ${isInSet})`,
    ])
  }
}
