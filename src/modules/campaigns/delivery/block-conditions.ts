import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { type ExpressionScope, selectMatchingPeople } from '../../../db/cel/index.ts'
import { inList } from '../../../db/conditions.ts'
import { isStatementFailure } from '../../../db/failures.ts'
import { campaignConditions } from '../../../db/schema/campaigns.ts'
import { select } from '../../../db/select.ts'
import { addPosition } from '../../../domain/campaigns/conditions.ts'
import { otherEdition } from '../../../domain/campaigns/content-faults.ts'
import { checkExpression } from '../../../domain/cel/index.ts'
import { AppError } from '../../../domain/errors.ts'
import { buildScope, takeSteps } from '../../segments/index.ts'
import { type CampaignRow, findConditionPlace } from './campaign-row.ts'
import type { ContentOutline } from './content-snapshot.ts'

/** Says why a campaign cannot go on. */
export class ConditionFailure extends Error {
  override name = 'ConditionFailure'
}

export type StoredCondition = Pick<typeof campaignConditions.$inferSelect, 'position' | 'expression'>

/** The conditions that each person fulfils, as bits of their positions. */
interface Evaluation {
  conditions: ReadonlyMap<number, number>
  /** The number of people who were tested, in the order of their numbers. */
  testedCount: number
}

const maxShownExpression = 100

const createFailure = ({ expression }: StoredCondition, detail: string): ConditionFailure =>
  new ConditionFailure(
    `The condition of a block cannot be evaluated: \`${expression.slice(0, maxShownExpression)}\`. ${detail}`,
  )

/**
 * Conditions say something about customers to whoever sees what recipients did with a message. So they are about the
 * edition of the message, if it has one, and otherwise about that of the segment.
 */
export function buildConditionScope(row: CampaignRow, messageEditionId: string | null, now: number): ExpressionScope {
  const { organization_id, segment_edition_id } = row
  if (messageEditionId !== null && segment_edition_id !== null && messageEditionId !== segment_edition_id)
    throw new ConditionFailure(otherEdition)
  return buildScope({ organization_id, ...findConditionPlace(row, messageEditionId) }, now)
}

function buildStatement(condition: StoredCondition, scope: ExpressionScope, seqs: readonly number[]) {
  const checkResult = checkExpression(condition.expression)
  if (!checkResult.ok) throw createFailure(condition, checkResult.errors[0]?.message ?? '')
  try {
    return selectMatchingPeople(checkResult.expression, scope, seqs)
  } catch (error) {
    if (error instanceof AppError) throw createFailure(condition, error.message)
    throw error
  }
}

/** Runs the statement of each condition in one batch. When the batch fails, it looks for the condition that cannot run. */
async function matchPeople(
  { db }: Pick<JobCtx, 'db'>,
  conditions: readonly StoredCondition[],
  scope: ExpressionScope,
  seqs: readonly number[],
): Promise<{ seq: number }[][]> {
  const statements = conditions.map((condition) => buildStatement(condition, scope, seqs))
  try {
    return await db.batch(statements)
  } catch (error) {
    if (error instanceof AppError || !isStatementFailure(error)) throw error
    for (const [index, condition] of conditions.entries())
      await db.all(statements[index] ?? sql`select 0 as seq`).catch((cause: unknown) => {
        throw isStatementFailure(cause) ? createFailure(condition, 'The database refuses it. Simplify it.') : cause
      })
    throw error
  }
}

/** Finds the conditions that people fulfil, as bits of their positions. People who fulfil none are left out. */
export async function findFulfilled(
  job: Pick<JobCtx, 'db'>,
  conditions: readonly StoredCondition[],
  scope: ExpressionScope,
  seqs: readonly number[],
): Promise<Map<number, number>> {
  const results = await matchPeople(job, conditions, scope, seqs)
  const fulfilledConditions = new Map<number, number>()
  for (const [index, { position }] of conditions.entries())
    for (const { seq } of results[index] ?? [])
      fulfilledConditions.set(seq, addPosition(fulfilledConditions.get(seq) ?? 0, position))
  return fulfilledConditions
}

const evaluationMs = 1000

/** Tests as many of the people as it can in a second. Repeating it with the same data gives the same result. */
async function testPeople(
  job: JobCtx,
  conditions: readonly StoredCondition[],
  scope: ExpressionScope,
  seqs: readonly number[],
): Promise<Evaluation> {
  const fulfilledConditions = new Map<number, number>()
  let testedCount = 0
  for (const step of takeSteps(job, seqs, evaluationMs)) {
    for (const [seq, bits] of await findFulfilled(job, conditions, scope, step)) fulfilledConditions.set(seq, bits)
    testedCount += step.length
  }
  return { conditions: fulfilledConditions, testedCount }
}

/** Evaluates the conditions of the campaign's blocks for people, by `users.seq`. */
export async function evaluateConditions(
  job: JobCtx,
  row: CampaignRow,
  outline: ContentOutline,
  seqs: readonly number[],
): Promise<Evaluation | { error: string }> {
  if (outline.conditions.length === 0 || seqs.length === 0) return { conditions: new Map(), testedCount: seqs.length }
  try {
    const scope = buildConditionScope(row, outline.message_edition_id, outline.created_at)
    const conditions = await job.db.all(
      select({ position: campaignConditions.position, expression: campaignConditions.expression })
        .from(campaignConditions)
        .where(
          and(
            eq(campaignConditions.campaign_id, row.id),
            inList(sql`${campaignConditions.position}`, outline.conditions),
          ),
        ),
    )
    return await testPeople(job, conditions, scope, seqs)
  } catch (error) {
    if (error instanceof ConditionFailure) return { error: error.message }
    throw error
  }
}
