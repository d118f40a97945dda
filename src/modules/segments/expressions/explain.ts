import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildExplanation, type Explanation, type Truth } from '../../../db/cel/index.ts'
import { isStatementFailure } from '../../../db/failures.ts'
import { decodeAs, fromFlag, fromJson, type RowOf, buildSelectList } from '../../../db/select.ts'
import { isVisibleTo } from '../../../db/visibility.ts'
import { checkExpression } from '../../../domain/cel/index.ts'
import { AppError, notFound } from '../../../domain/errors.ts'
import { selectAnswersToKeys, type DecidingAnswer } from '../../consents/index.ts'
import { userVisibility } from '../../users/index.ts'
import { buildConditions, buildScope, selectDecidingConsent } from '../calculation/audience.ts'
import type { SegmentRow } from '../queries.ts'

interface ExplainedCondition {
  name: string
  reason: string | null
}

export interface SegmentExplanation {
  segment: SegmentRow
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
const buildFields = (segment: SegmentRow, now: number, parts: { reasons: readonly SQL[]; keys: string[] }) => {
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

/** Builds the query that explains a segment for a person, and what reads its row. */
function prepareExplanation(ctx: Ctx, segment: SegmentRow, userId: string) {
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
  const query = decodeAs(
    fields,
    sql<RowOf<typeof fields>>`select ${buildSelectList(fields)}
      from users u where u.id = ${userId} and u.organization_id = ${organization_id}
        and u.seq in (select seq from users where id = ${userId} and ${isVisibleTo(ctx.caller, userVisibility)})`,
  )
  const readRow = (row: RowOf<typeof fields>): SegmentExplanation => {
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
  return { query, readRow }
}

/** Evaluates the expression and the conditions of the audience for one person, on current data. */
export async function explainSegment(ctx: Ctx, segment: SegmentRow, userId: string): Promise<SegmentExplanation> {
  const { query, readRow } = prepareExplanation(ctx, segment, userId)
  const row = await ctx.db.first(query)
  if (!row) throw notFound()
  return readRow(row)
}

/** Explains several segments for one person in one batch. Null: the database cannot evaluate the expression. */
export async function explainSegments(
  ctx: Ctx,
  segments: readonly SegmentRow[],
  userId: string,
): Promise<(SegmentExplanation | null)[]> {
  if (segments.length === 0) return []
  const explanations = segments.map((segment) => prepareExplanation(ctx, segment, userId))
  try {
    const results = await ctx.db.batch(explanations.map(({ query }) => query))
    return explanations.map(({ readRow }, index) => {
      const row = results[index]?.[0]
      if (!row) throw notFound()
      return readRow(row)
    })
  } catch (error) {
    if (error instanceof AppError || !isStatementFailure(error)) throw error
    if (segments.length === 1) return [null]
    const middle = Math.ceil(segments.length / 2)
    const first = await explainSegments(ctx, segments.slice(0, middle), userId)
    return [...first, ...(await explainSegments(ctx, segments.slice(middle), userId))]
  }
}
