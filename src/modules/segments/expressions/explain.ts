import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { visible } from '../../../db/visibility.ts'
import { type Explanation, explanationOf, type Truth } from '../../../db/cel/index.ts'
import { findListSizes } from '../../../db/list-sizes.ts'
import { checkExpression, costError, type Expression, hasNestedLists } from '../../../domain/cel/index.ts'
import { AppError, notFound } from '../../../domain/errors.ts'
import { answersToKeys, type DecidingAnswer } from '../../consents/index.ts'
import { userVisibility } from '../../users/index.ts'
import { audienceConditions, decidingConsent, scopeOf } from '../calculation/audience.ts'
import type { LoadedSegment } from '../queries.ts'

interface ExplainedCondition {
  name: string
  reason: string | null
}

export interface SegmentExplanation {
  segment: LoadedSegment
  userId: string
  parts: (Explanation['parts'][number] & { value: Truth })[]
  conditions: ExplainedCondition[]
  wasMember: boolean | null
  /** The answers that the expression and the audience go by. */
  consents: (DecidingAnswer & { decides: 'expression' | 'audience' })[]
}

interface ExplanationRow {
  reasons: string
  truths: string
  named_answers: string
  deciding_answer: string | null
  was_member: number | null
}

/** An expression that the calculation would refuse is not tried on one person either. */
async function checkCost(ctx: Ctx, segment: LoadedSegment, expression: Expression): Promise<void> {
  if (!hasNestedLists(expression)) return
  const { most } = await findListSizes(ctx.db, segment.organization_id)
  const error = costError(expression, segment.expression, most)
  if (error) throw new AppError('validation_error', error.message)
}

const keysOf = (literals: readonly { field: string; value: string }[]): string[] => [
  ...new Set(literals.flatMap(({ field, value }) => (field === 'consent_key' ? [value] : []))),
]

function consentsOf({ named_answers, deciding_answer }: ExplanationRow): SegmentExplanation['consents'] {
  const named = JSON.parse(named_answers) as DecidingAnswer[]
  const audience = deciding_answer === null ? [] : [JSON.parse(deciding_answer) as DecidingAnswer]
  return [
    ...named.map((answer) => ({ ...answer, decides: 'expression' as const })),
    ...audience.map((answer) => ({ ...answer, decides: 'audience' as const })),
  ]
}

/** Holds what decides about one person against the data of this moment. */
export async function explainSegment(ctx: Ctx, segment: LoadedSegment, userId: string): Promise<SegmentExplanation> {
  const { organization_id, edition_id } = segment
  const checked = checkExpression(segment.expression)
  if (checked.ok) await checkCost(ctx, segment, checked.expression)
  const now = ctx.now()
  const conditions: { name: string; reason: SQL }[] = [
    ...(edition_id === null
      ? []
      : [
          {
            name: 'edition',
            reason: sql`iif(exists (select 1 from user_editions where edition_id = ${edition_id} and user_id = u.id),
              null, 'other_edition')`,
          },
        ]),
    ...audienceConditions(segment, now),
  ]
  const explanation = checked.ok
    ? explanationOf(checked.expression, scopeOf(segment, now), segment.expression, userId)
    : null
  const keys = checked.ok ? keysOf(checked.literals) : []
  const reasons = sql.join(
    conditions.map(({ reason }) => reason),
    sql`, `,
  )
  const found = await ctx.db.first(sql<ExplanationRow>`select json_array(${reasons}) as reasons,
      (select excluded_for is null from segment_members where segment_seq = ${segment.seq}
        and epoch = ${segment.members_epoch} and user_seq = u.seq) as was_member,
      ${answersToKeys(sql`u.id`, keys, { organization_id, edition_id }, now)} as named_answers,
      ${segment.communication_type === 'marketing' ? decidingConsent(segment, now) : sql`null`} as deciding_answer,
      (${explanation?.statement ?? sql`'[]'`}) as truths
    from users u where u.id = ${userId} and u.organization_id = ${organization_id}
      and u.seq in (select seq from users where id = ${userId} and ${visible(ctx.caller, userVisibility)})`)
  if (!found) throw notFound()
  const truths = explanation?.truthsOf(found) ?? []
  const reasonsFound = JSON.parse(found.reasons) as (string | null)[]
  return {
    segment,
    userId,
    parts: (explanation?.parts ?? []).map((part, index) => ({ ...part, value: truths[index] ?? null })),
    conditions: conditions.map(({ name }, index) => ({ name, reason: reasonsFound[index] ?? null })),
    consents: consentsOf(found),
    wasMember: segment.members_epoch === 0 ? null : found.was_member === 1,
  }
}
