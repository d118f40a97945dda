import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { isVisibleTo } from '../../../db/visibility.ts'
import { type Explanation, explanationOf, type Truth } from '../../../db/cel/index.ts'
import { decodeAs, fromFlag, fromJson, type RowOf, buildSelectList } from '../../../db/select.ts'
import { findListSizes } from '../../../db/cel/list-sizes.ts'
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

const consentsOf = (
  named: readonly DecidingAnswer[],
  ofAudience: DecidingAnswer | null,
): SegmentExplanation['consents'] => [
  ...named.map((answer) => ({ ...answer, decides: 'expression' as const })),
  ...(ofAudience === null ? [] : [{ ...ofAudience, decides: 'audience' as const }]),
]

/** What decides about the person `u`. */
const decidingFields = (segment: LoadedSegment, now: number, asked: { reasons: readonly SQL[]; keys: string[] }) => {
  const { organization_id, edition_id, seq, members_epoch, communication_type } = segment
  const reasons = sql.join([...asked.reasons], sql`, `)
  return {
    reasons: fromJson<(string | null)[]>(sql`json_array(${reasons})`),
    was_member: fromFlag(sql`exists (select 1 from segment_members where segment_seq = ${seq}
      and epoch = ${members_epoch} and user_seq = u.seq and excluded_for is null)`),
    named_answers: fromJson<DecidingAnswer[]>(
      answersToKeys(sql`u.id`, asked.keys, { organization_id, edition_id }, now),
    ),
    deciding_answer: fromJson<DecidingAnswer | null>(
      communication_type === 'marketing' ? decidingConsent(segment, now) : sql`null`,
    ),
  }
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
            reason: sql`iif(exists (select 1 from edition_customers where edition_customers.edition_id = ${edition_id} and user_seq = u.seq),
              null, 'other_edition')`,
          },
        ]),
    ...audienceConditions(segment, now),
  ]
  const explanation = checked.ok
    ? explanationOf(checked.expression, scopeOf(segment, now), segment.expression, userId)
    : null
  const keys = checked.ok ? keysOf(checked.literals) : []
  const fields = {
    ...decidingFields(segment, now, { reasons: conditions.map(({ reason }) => reason), keys }),
    truths: sql<string>`(${explanation?.statement ?? sql`'[]'`})`,
  }
  const found = await ctx.db.first(
    decodeAs(
      fields,
      sql<RowOf<typeof fields>>`select ${buildSelectList(fields)}
        from users u where u.id = ${userId} and u.organization_id = ${organization_id}
          and u.seq in (select seq from users where id = ${userId} and ${isVisibleTo(ctx.caller, userVisibility)})`,
    ),
  )
  if (!found) throw notFound()
  const truths = explanation?.truthsOf(found) ?? []
  return {
    segment,
    userId,
    parts: (explanation?.parts ?? []).map((part, index) => ({ ...part, value: truths[index] ?? null })),
    conditions: conditions.map(({ name }, index) => ({ name, reason: found.reasons[index] ?? null })),
    consents: consentsOf(found.named_answers, found.deciding_answer),
    wasMember: segment.members_epoch === 0 ? null : found.was_member,
  }
}
