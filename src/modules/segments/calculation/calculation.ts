import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { buildPredicate } from '../../../db/cel/index.ts'
import { requireOneChange } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { isLostRace, isStatementFailure } from '../../../db/failures.ts'
import type { StoredSegmentRow } from '../../../db/rows.ts'
import { editions } from '../../../db/schema/editions.ts'
import { segments } from '../../../db/schema/segments.ts'
import { select } from '../../../db/select.ts'
import { checkExpression, type Expression } from '../../../domain/cel/index.ts'
import { AppError, LostRace } from '../../../domain/errors.ts'
import { exclusionReasons, type SegmentStatus } from '../../../domain/segments.ts'
import { type Audience, buildExclusion, buildScope, countPeople } from './audience.ts'
import { buildWalk } from './walk.ts'

/** A running calculation as it was loaded. */
export interface Calculation extends Audience {
  seq: number
  id: string
  epoch: number
  expression: string
  edition_timezone: string | null
  /** The position that the walk has reached. */
  cursor_id: string
  /** The position at which the walk ends. */
  last_id: string
  started_at: number
}

const columns = {
  seq: segments.seq,
  id: segments.id,
  organization_id: segments.organization_id,
  edition_id: segments.edition_id,
  edition_timezone: editions.timezone,
  communication_type: segments.communication_type,
  communication_channel: segments.communication_channel,
  expression: segments.expression,
  epoch: segments.epoch,
  cursor_id: segments.cursor_id,
  last_id: segments.last_id,
  started_at: segments.calculation_started_at,
}

/** `status = …`, as a condition or as an assignment of an update. */
const statusEquals = (status: SegmentStatus): SQL => sql`status = ${status}`

/** Finds a running calculation. Returns null when it has ended or another one has started. */
export async function findCalculation(job: JobCtx, id: string, epoch: number): Promise<Calculation | null> {
  const row = await job.db.first(
    select(columns)
      .from(segments)
      .leftJoin(editions, eq(editions.id, segments.edition_id))
      .where(and(eq(segments.id, id), eq(segments.epoch, epoch), eq(segments.status, 'calculating'))),
  )
  return row ? { ...row, started_at: row.started_at ?? 0 } : null
}

/**
 * Statements that start a calculation of the segment as it was loaded, in any status. The second is the guard. A
 * consumer of an earlier calculation cannot commit anything after this.
 */
export const buildCalculationStart = (
  segment: Pick<StoredSegmentRow, 'id' | 'version' | 'organization_id' | 'edition_id'>,
  now: number,
) => {
  const walk = buildWalk(segment)
  return [
    sql`update segments set ${statusEquals('calculating')}, epoch = epoch + 1, version = version + 1,
        cursor_id = (${walk.start}), last_id = coalesce((${walk.last}), (${walk.start})),
        walked_count = 0, matched_count = 0,
        population_count = ${countPeople(segment)},
        calculation_started_at = ${now}, heartbeat_at = ${now}, error_message = ''
      where id = ${segment.id} and version = ${segment.version}`,
    requireOneChange(),
  ] satisfies Statement[]
}

const isRunning = ({ seq, epoch }: Calculation): SQL =>
  sql`seq = ${seq} and epoch = ${epoch} and ${statusEquals('calculating')}`

/** Retires sets of members: nobody starts to read them any more, and the sweep deletes each after its last reader. */
export const retireMembers = (epoch: SQL, where: SQL, now: number): SQL =>
  sql`insert into segment_leftovers (segment_seq, epoch, left_at)
    select seq, ${epoch}, ${now} from segments where ${where} on conflict do nothing`

const exclusionCounts = sql.raw(
  exclusionReasons.map((reason) => `'${reason}', count(*) filter (where excluded_for = '${reason}')`).join(', '),
)

/** The first step is small, because nothing is known yet about the expression and the data. */
const firstStepSize = 10
const maxStepSize = 20_000
const stepMs = 200

/**
 * Chooses how many people the next step tests, so that it takes about `stepMs`, whatever the expression and the data.
 */
export function chooseStepSize(size: number, elapsedMs: number): number {
  const factor = Math.min(10, stepMs / Math.max(1, elapsedMs))
  return Math.min(maxStepSize, Math.max(1, Math.floor(size * factor)))
}

/** Divides people into steps, until all are taken or `maxMs` have passed. */
export function* takeSteps(
  { now }: Pick<JobCtx, 'now'>,
  numbers: readonly number[],
  maxMs: number,
): Generator<readonly number[]> {
  const startedAt = now()
  let [taken, size] = [0, firstStepSize]
  while (taken < numbers.length && now() - startedAt < maxMs) {
    const stepStartedAt = now()
    const step = numbers.slice(taken, taken + size)
    yield step
    taken += step.length
    size = chooseStepSize(size, now() - stepStartedAt)
  }
}

/** Builds one step as one transaction. It moves the cursor, or aborts when the cursor has moved since it was read. */
function buildStep(calculation: Calculation, expression: Expression, now: number, size: number) {
  const { seq, epoch, started_at } = calculation
  const walk = buildWalk(calculation)
  const people = walk.peopleBetween(
    calculation.cursor_id,
    sql`select cursor_id as position from segments where seq = ${seq}`,
  )
  const predicate = buildPredicate(expression, buildScope(calculation, started_at))
  const end = walk.end({ after: calculation.cursor_id, until: calculation.last_id, size })
  const isLast = sql`${isRunning(calculation)} and cursor_id = last_id`
  return [
    sql`update segments set heartbeat_at = ${now},
        cursor_id = coalesce((${end}), last_id), walked_count = walked_count + ${size}
      where ${isRunning(calculation)} and cursor_id = ${calculation.cursor_id}`,
    requireOneChange(),
    sql`insert into segment_members (segment_seq, epoch, user_seq, excluded_for)
      select ${seq}, ${epoch}, u.seq, ${buildExclusion(calculation, started_at)} from ${people.from}
      where ${people.where} and ${predicate}`,
    sql`update segments set matched_count = matched_count + changes() where seq = ${seq}`,
    retireMembers(sql`members_epoch`, sql`${isLast} and members_epoch > 0`, now),
    sql`update segments set ${statusEquals('ready')}, members_epoch = epoch, calculated_at = ${now},
        heartbeat_at = null, version = version + 1,
        (user_count, excluded) = (select matched_count - count(*), json_object(${exclusionCounts})
          from segment_members where segment_seq = segments.seq and epoch = segments.epoch and excluded_for is not null)
      where ${isLast}`,
    select({ status: segments.status, cursor_id: segments.cursor_id }).from(segments).where(eq(segments.seq, seq)),
  ] as const
}

/** Ends a running calculation as `failed`. The members of the calculation before it stay. */
export async function failCalculation(job: JobCtx, calculation: Calculation, message: string): Promise<void> {
  await job.db.batch([
    retireMembers(sql`epoch`, isRunning(calculation), job.now()),
    sql`update segments set ${statusEquals('failed')}, error_message = ${message}, heartbeat_at = null,
        version = version + 1
      where ${isRunning(calculation)}`,
  ])
}

export type CalculationStep =
  | { state: 'calculating'; calculation: Calculation }
  /** `overtaken`: another consumer continued or ended the calculation, and this step changed nothing. */
  | { state: 'ready' | 'failed' | 'overtaken' }

/** Tests the next `size` people. An error of the expression ends the calculation; any other error is thrown. */
export async function calculateStep(job: JobCtx, calculation: Calculation, size: number): Promise<CalculationStep> {
  const checkResult = checkExpression(calculation.expression)
  if (!checkResult.ok) {
    await failCalculation(
      job,
      calculation,
      `The expression is no longer valid. ${checkResult.errors[0]?.message ?? ''}`,
    )
    return { state: 'failed' }
  }
  try {
    const results = await job.db.batch(buildStep(calculation, checkResult.expression, job.now(), size))
    const [row] = results[6]
    if (row?.status !== 'calculating') return { state: 'ready' }
    return { state: 'calculating', calculation: { ...calculation, cursor_id: row.cursor_id } }
  } catch (error) {
    if (error instanceof LostRace || isLostRace(error)) return { state: 'overtaken' }
    if (error instanceof AppError || !isStatementFailure(error)) throw error
    await failCalculation(job, calculation, 'The database could not evaluate the expression. Simplify it.')
    return { state: 'failed' }
  }
}

/** Does steps until the calculation ends or `endsAt` has passed. Tests pass a fixed `size`. */
export async function continueCalculation(
  job: JobCtx,
  calculation: Calculation,
  endsAt: number,
  size?: number,
): Promise<CalculationStep> {
  let step: CalculationStep = { state: 'calculating', calculation }
  let stepSize = size ?? firstStepSize
  do {
    const startedAt = job.now()
    step = await calculateStep(job, step.calculation, stepSize)
    stepSize = size ?? chooseStepSize(stepSize, job.now() - startedAt)
  } while (step.state === 'calculating' && job.now() < endsAt)
  return step
}
