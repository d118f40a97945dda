import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildExplanation, type Explanation, type Truth } from '../../../db/cel/index.ts'
import { decodeAs, fromFlag, fromJson, type RowOf, buildSelectList } from '../../../db/select.ts'
import { isVisibleTo } from '../../../db/visibility.ts'
import { checkExpression } from '../../../domain/cel/index.ts'
import { notFound } from '../../../domain/errors.ts'
import { selectAnswersToKeys, type DecidingAnswer } from '../../consents/index.ts'
import { userVisibility } from '../../users/index.ts'
import { buildConditions, buildScope, selectDecidingConsent } from '../calculation/audience.ts'
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
  /** The answers that the expression names, and the one that decides about marketing. */
  consents: (DecidingAnswer & { decides: 'expression' | 'audience' })[]
}

const listConsentKeys = (literals: readonly { field: string; value: string }[]): string[] => [
  ...new Set(literals.flatMap(({ field, value }) => (field === 'consent_key' ? [value] : []))),
]

const presentConsents = (
  namedAnswers: readonly DecidingAnswer[],
  decidingAnswer: DecidingAnswer | null,
): SegmentExplanation['consents'] => [
  ...namedAnswers.map((answer) => ({ ...answer, decides: 'expression' as const })),
  ...(decidingAnswer === null ? [] : [{ ...decidingAnswer, decides: 'audience' as const }]),
]

/** Columns about the person `u`. */
const buildFields = (segment: LoadedSegment, now: number, parts: { reasons: readonly SQL[]; keys: string[] }) => {
  const { organization_id, edition_id, seq, members_epoch, communication_type } = segment
  const reasons = sql.join([...parts.reasons], sql`, `)
  return {
    reasons: fromJson<(string | null)[]>(sql`json_array(${reasons})`),
    was_member: fromFlag(sql`exists (select 1 from segment_members where segment_seq = ${seq}
      and epoch = ${members_epoch} and user_seq = u.seq and excluded_for is null)`),
    named_answers: fromJson<DecidingAnswer[]>(
      selectAnswersToKeys(sql`u.id`, parts.keys, { organization_id, edition_id }, now),
    ),
    deciding_answer: fromJson<DecidingAnswer | null>(
      communication_type === 'marketing' ? selectDecidingConsent(segment, now) : sql`null`,
    ),
  }
}

/** Evaluates the expression and the conditions of the audience for one person, on current data. */
export async function explainSegment(ctx: Ctx, segment: LoadedSegment, userId: string): Promise<SegmentExplanation> {
  const { organization_id, edition_id } = segment
  const checkResult = checkExpression(segment.expression)
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
    ...buildConditions(segment, now),
  ]
  const explanation = checkResult.ok
    ? buildExplanation(checkResult.expression, buildScope(segment, now), segment.expression, userId)
    : null
  const keys = checkResult.ok ? listConsentKeys(checkResult.literals) : []
  const fields = {
    ...buildFields(segment, now, { reasons: conditions.map(({ reason }) => reason), keys }),
    truths: sql<string | null>`(${explanation?.statement ?? sql`'[]'`})`,
  }
  const row = await ctx.db.first(
    decodeAs(
      fields,
      sql<RowOf<typeof fields>>`select ${buildSelectList(fields)}
        from users u where u.id = ${userId} and u.organization_id = ${organization_id}
          and u.seq in (select seq from users where id = ${userId} and ${isVisibleTo(ctx.caller, userVisibility)})`,
    ),
  )
  if (!row) throw notFound()
  const truths = explanation?.readTruths(row) ?? []
  return {
    segment,
    userId,
    parts: (explanation?.parts ?? []).map((part, index) => ({ ...part, value: truths[index] ?? null })),
    conditions: conditions.map(({ name }, index) => ({ name, reason: row.reasons[index] ?? null })),
    consents: presentConsents(row.named_answers, row.deciding_answer),
    wasMember: segment.members_epoch === 0 ? null : row.was_member,
  }
}
