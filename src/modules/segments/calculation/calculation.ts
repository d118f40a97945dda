import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireOneChange } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { isLostRace, isStatementFailure } from '../../../db/failures.ts'
import { type KnownSizes, listSizesOf, readListSizes } from '../../../db/cel/list-sizes.ts'
import { segments, type StoredSegmentRow } from '../../../db/schema/messaging/segments.ts'
import { select } from '../../../db/select.ts'
import { predicateOf } from '../../../db/cel/index.ts'
import { checkExpression, costError, type Expression, meanWork, peopleAStatement } from '../../../domain/cel/index.ts'
import { AppError, LostRace } from '../../../domain/errors.ts'
import { exclusionReasons, type SegmentStatus } from '../../../domain/segments.ts'
import { type Audience, audienceReason, countPeople, scopeOf } from './audience.ts'
import { walkOf } from './walk.ts'

/** A running calculation, as it was read. */
export interface Calculation extends Audience {
  seq: number
  id: string
  epoch: number
  expression: string
  /** Positions of the walk: the one that it has reached, and the last. */
  cursor_id: string
  last_id: string
  started_at: number
  /** Of the organisation's lists when they were read last: they decide whether it continues, and in which steps. */
  sizes: KnownSizes
}

const listSizes = sql<string | null>`${listSizesOf(sql`${segments.organization_id}`)}`

const fields = {
  seq: segments.seq,
  id: segments.id,
  organization_id: segments.organization_id,
  edition_id: segments.edition_id,
  communication_type: segments.communication_type,
  communication_channel: segments.communication_channel,
  expression: segments.expression,
  epoch: segments.epoch,
  cursor_id: segments.cursor_id,
  last_id: segments.last_id,
  started_at: segments.calculation_started_at,
  sizes: listSizes,
}

const hasStatus = (status: SegmentStatus): SQL => sql`status = ${status}`

/** The calculation of this number, or null once it has ended or another one has begun. */
export async function findCalculation(job: JobCtx, id: string, epoch: number): Promise<Calculation | null> {
  const row = await job.db.first(
    select(fields)
      .from(segments)
      .where(and(eq(segments.id, id), eq(segments.epoch, epoch), eq(segments.status, 'calculating'))),
  )
  return row ? { ...row, started_at: row.started_at ?? 0, sizes: readListSizes(row.sizes) } : null
}

/**
 * Statements that begin a calculation of the segment as it was loaded, in any status; the second is the guard.
 * A consumer of an earlier calculation can commit nothing from then on.
 */
export const beginning = (
  segment: Pick<StoredSegmentRow, 'id' | 'version' | 'organization_id' | 'edition_id'>,
  now: number,
) => {
  const walk = walkOf(segment)
  return [
    sql`update segments set ${hasStatus('calculating')}, epoch = epoch + 1, version = version + 1, cursor_id = (${walk.start}),
        last_id = coalesce((${walk.last}), (${walk.start})), walked_count = 0, matched_count = 0,
        population_count = ${countPeople(segment)},
        calculation_started_at = ${now}, heartbeat_at = ${now}, error_message = ''
      where id = ${segment.id} and version = ${segment.version}`,
    requireOneChange(),
  ] satisfies Statement[]
}

const running = ({ seq, epoch }: Calculation): SQL =>
  sql`seq = ${seq} and epoch = ${epoch} and ${hasStatus('calculating')}`

/** Marks the sets that `where` finds as closed to new readers. The sweep deletes them after their last reader. */
export const leaving = (epoch: SQL, where: SQL, now: number): SQL =>
  sql`insert into segment_leftovers (segment_seq, epoch, left_at)
    select seq, ${epoch}, ${now} from segments where ${where} on conflict do nothing`

const counts = sql.raw(
  exclusionReasons.map((reason) => `'${reason}', count(*) filter (where excluded_for = '${reason}')`).join(', '),
)

/**
 * One step as one transaction: it moves the cursor from where it was read, or nothing at all happens. The last step goes to
 * the last position.
 */
function stepStatements(calculation: Calculation, expression: Expression, now: number, size: number) {
  const { seq, epoch, started_at } = calculation
  const walk = walkOf(calculation)
  const people = walk.part(calculation.cursor_id, sql`select cursor_id as position from segments where seq = ${seq}`)
  const predicate = predicateOf(expression, scopeOf(calculation, started_at))
  const end = walk.end({ after: calculation.cursor_id, until: calculation.last_id, size })
  const isLast = sql`${running(calculation)} and cursor_id = last_id`
  return [
    sql`update segments set heartbeat_at = ${now},
        cursor_id = coalesce((${end}), last_id), walked_count = walked_count + ${size}
      where ${running(calculation)} and cursor_id = ${calculation.cursor_id}`,
    requireOneChange(),
    sql`insert into segment_members (segment_seq, epoch, user_seq, excluded_for)
      select ${seq}, ${epoch}, u.seq, ${audienceReason(calculation, started_at)} from ${people.from}
      where ${people.where} and (${predicate})`,
    sql`update segments set matched_count = matched_count + changes() where seq = ${seq}`,
    leaving(sql`members_epoch`, sql`${isLast} and members_epoch > 0`, now),
    sql`update segments set ${hasStatus('ready')}, members_epoch = epoch, calculated_at = ${now}, heartbeat_at = null,
        version = version + 1,
        (user_count, excluded) = (select matched_count - count(*), json_object(${counts})
          from segment_members where segment_seq = segments.seq and epoch = segments.epoch and excluded_for is not null)
      where ${isLast}`,
    select({ status: segments.status, cursor_id: segments.cursor_id, sizes: listSizes })
      .from(segments)
      .where(eq(segments.seq, seq)),
  ] as const
}

/** Ends the calculation as `failed`, unless it has ended already. The set that was shown before stays. */
export async function fail(job: JobCtx, calculation: Calculation, message: string): Promise<void> {
  await job.db.batch([
    leaving(sql`epoch`, running(calculation), job.now()),
    sql`update segments set ${hasStatus('failed')}, error_message = ${message}, heartbeat_at = null, version = version + 1
      where ${running(calculation)}`,
  ])
}

export type CalculationStep =
  | { state: 'calculating'; calculation: Calculation }
  /** `overtaken`: another consumer has continued or ended the calculation, and nothing was written here. */
  | { state: 'ready' | 'failed' | 'overtaken' }

/**
 * Makes one step, of as many people as one statement bears. A fault of the expression, and lists that have become too
 * long for it, end the calculation as `failed`; a fault of the machinery throws, and the step can be made again.
 */
export async function stepOf(job: JobCtx, calculation: Calculation, size?: number): Promise<CalculationStep> {
  const { expression: source, sizes } = calculation
  const checked = checkExpression(source)
  if (!checked.ok) {
    await fail(job, calculation, `The expression is not valid any more: ${checked.errors[0]?.message ?? ''}`)
    return { state: 'failed' }
  }
  const { expression } = checked
  const outgrown = costError(expression, source, sizes.most)
  if (outgrown) {
    await fail(job, calculation, outgrown.message)
    return { state: 'failed' }
  }
  try {
    const people = size ?? peopleAStatement(meanWork(expression, sizes.most, sizes.mean))
    const results = await job.db.batch(stepStatements(calculation, expression, job.now(), people))
    const [now] = results[6]
    if (now?.status !== 'calculating') return { state: 'ready' }
    return {
      state: 'calculating',
      calculation: { ...calculation, cursor_id: now.cursor_id, sizes: readListSizes(now.sizes) },
    }
  } catch (error) {
    if (error instanceof LostRace || isLostRace(error)) return { state: 'overtaken' }
    if (error instanceof AppError || !isStatementFailure(error)) throw error
    await fail(job, calculation, 'The database could not calculate the expression. Make it simpler.')
    return { state: 'failed' }
  }
}
