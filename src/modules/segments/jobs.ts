import { and, lte, sql } from 'drizzle-orm'
import type { CalculateMessage, JobCtx } from '../../context.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { segmentLeftovers, segments } from '../../db/schema/messaging/segments.ts'
import { select } from '../../db/select.ts'
import { inWords } from '../../db/visibility.ts'
import { lostAfterMs, quietAfterMs, type SegmentStatus } from '../../domain/segments.ts'
import { type Calculation, fail, findCalculation, stepOf } from './calculation/calculation.ts'
import { leftoverAfterMs } from './calculation/members.ts'

/** A consumer works this long before it leaves the rest to the next. */
const shiftMs = 20_000

export const isCalculateMessage = (body: unknown): body is CalculateMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<CalculateMessage>).type === 'segment.calculate' &&
  typeof (body as Partial<CalculateMessage>).segment_id === 'string' &&
  typeof (body as Partial<CalculateMessage>).epoch === 'number'

export const enqueueCalculations = (
  job: JobCtx,
  calculations: readonly { id: string; epoch: number }[],
): Promise<void> =>
  job.jobQueue.enqueue(
    'segments',
    calculations.map(({ id, epoch }) => ({ type: 'segment.calculate', segment_id: id, epoch })),
  )

async function calculate(job: JobCtx, message: CalculateMessage, endsAt: number, size?: number): Promise<void> {
  let calculation: Calculation | null = await findCalculation(job, message.segment_id, message.epoch)
  while (calculation) {
    const step = await stepOf(job, calculation, size)
    calculation = step.state === 'calculating' ? step.calculation : null
    if (calculation && job.now() >= endsAt) return enqueueCalculations(job, [calculation])
  }
}

/** Makes the calculations that these messages name. A message that comes twice, or for a calculation that has ended, does nothing. */
export async function calculateSegments(
  job: JobCtx,
  messages: readonly CalculateMessage[],
  size?: number,
): Promise<void> {
  const endsAt = job.now() + shiftMs
  await Promise.all(messages.map((message) => calculate(job, message, endsAt, size)))
}

const calculationsASweep = 100

const calculating: SegmentStatus = 'calculating'

/** Enqueues calculations again that no consumer works on, and fails those that were idle for long. */
export async function sweepCalculations(job: JobCtx): Promise<void> {
  const now = job.now()
  const { id: segmentId, epoch: number, heartbeat_at: heartbeat, status } = segments
  const quiet = await job.db.all(
    select({ id: segmentId, epoch: number, heartbeat_at: heartbeat })
      .from(segments)
      .where(and(inWords(sql`${status}`, [calculating]), lte(heartbeat, now - quietAfterMs)))
      .orderBy(heartbeat)
      .limit(calculationsASweep),
  )
  const isLost = ({ heartbeat_at }: { heartbeat_at: number | null }) => (heartbeat_at ?? 0) <= now - lostAfterMs
  for (const { id, epoch } of quiet.filter(isLost)) {
    const calculation = await findCalculation(job, id, epoch)
    if (calculation) await fail(job, calculation, 'The calculation came to a halt. Start it again.')
  }
  await enqueueCalculations(
    job,
    quiet.filter((row) => !isLost(row)),
  )
}

const exportsASweep = 500

/** Deletes rows about exports that are as old as the oldest entries of the audit log, which say the same. */
export const sweepExports = ({ db, now, config }: Pick<JobCtx, 'db' | 'now' | 'config'>): Promise<unknown> =>
  db.all(sql`delete from segment_exports where id in (select id from segment_exports
    where id < ${firstIdAt('segment_export', now() - config.retentionMs.auditLog)} order by id limit ${exportsASweep})`)

const leftoversASweep = 5
const rowsASlice = 10_000

/** Deletes members of sets without readers, so many a minute. */
export async function sweepLeftovers(job: JobCtx): Promise<void> {
  const { segment_seq: ofSegment, epoch: number, left_at } = segmentLeftovers
  const sets = await job.db.all(
    select({ segment_seq: ofSegment, epoch: number })
      .from(segmentLeftovers)
      .where(lte(left_at, job.now() - leftoverAfterMs))
      .orderBy(left_at)
      .limit(leftoversASweep),
  )
  for (const { segment_seq, epoch } of sets) {
    const ofSet = sql`segment_seq = ${segment_seq} and epoch = ${epoch}`
    await job.db.batch([
      sql`delete from segment_members where ${ofSet}
        and user_seq in (select user_seq from segment_members where ${ofSet} order by user_seq limit ${rowsASlice})`,
      sql`delete from segment_leftovers where ${ofSet}
        and not exists (select 1 from segment_members where ${ofSet})`,
    ])
  }
}
