import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildPredicate } from '../../../db/cel/index.ts'
import { isStatementFailure } from '../../../db/failures.ts'
import {
  type CelError,
  type CheckedExpression,
  checkExpression,
  type Expression,
  type KnownLiteral,
  listNullableUses,
  type NullableUse,
} from '../../../domain/cel/index.ts'
import { fieldError, invalid } from '../../../domain/errors.ts'
import { findNearest } from '../../../domain/text/nearest.ts'
import {
  buildExclusion,
  buildPeople,
  buildScope,
  countPeople,
  type ExpressionPlace,
  type SegmentTenant,
} from '../calculation/audience.ts'
import { takeSteps } from '../calculation/calculation.ts'
import { findSegmentTenant } from '../tenant.ts'
import { type KnownValue, maxValuesListed, type ValidateCelInput } from './cel-contract.ts'
import { findMissingValues, type KnownValues, listKnownValues } from './known-values.ts'

const buildInvalid = (errors: readonly CelError[]) =>
  invalid(
    ...errors.map(({ code, message, line, column, start, end }) => ({
      ...fieldError(['expression'], code, message),
      line,
      column,
      start,
      end,
    })),
  )

/** The columns of an expression that is saved. Throws with the place of each error. */
export function buildExpressionColumns(source: string): { expression: string; is_time_dependent: boolean } {
  const checkResult = checkExpression(source)
  if (!checkResult.ok) throw buildInvalid(checkResult.errors)
  return { expression: source, is_time_dependent: checkResult.isTimeDependent }
}

export interface UnknownValueWarning {
  literal: KnownLiteral
  suggestion: KnownValue | null
}

interface Estimate {
  /** Null when the expression is invalid or the database could not evaluate it. */
  count: number | null
  isExtrapolated: boolean
}

/** A field that people have no value in. */
export interface NoValueWarning {
  use: NullableUse
  estimate: Estimate
}

export interface Validation {
  source: string
  checkedExpression: CheckedExpression
  warnings: UnknownValueWarning[]
  noValueWarnings: NoValueWarning[]
  estimate: Estimate
}

const buildKey = ({ values_from, by }: KnownLiteral) => `${values_from} ${by}`

/** Keeps the literals that really do not exist: `knownValues` lists only the most frequent values of each kind. */
async function findMissingLiterals(
  ctx: Ctx,
  tenant: SegmentTenant,
  knownValues: KnownValues,
  literals: readonly KnownLiteral[],
): Promise<KnownLiteral[]> {
  const missingValues = new Map<string, string[]>()
  for (const [key, group] of Map.groupBy(literals, buildKey)) {
    const [{ values_from: kind, by }] = group as [KnownLiteral]
    if (knownValues[kind].length < maxValuesListed) continue
    const values = group.map(({ value }) => value)
    missingValues.set(key, await findMissingValues(ctx.db, tenant, { kind, by, values }))
  }
  return literals.filter((literal) => missingValues.get(buildKey(literal))?.includes(literal.value) ?? true)
}

async function findWarnings(
  ctx: Ctx,
  tenant: SegmentTenant,
  literals: readonly KnownLiteral[],
): Promise<UnknownValueWarning[]> {
  if (literals.length === 0) return []
  const knownValues = await listKnownValues(ctx.db, tenant)
  const unlistedLiterals = literals.filter(
    ({ values_from, by, value }) => !knownValues[values_from].some((candidate) => candidate[by] === value),
  )
  const missingLiterals = await findMissingLiterals(ctx, tenant, knownValues, unlistedLiterals)
  return missingLiterals.map((literal) => {
    const suggestion = findNearest(literal.value, knownValues[literal.values_from], ({ value, label }) =>
      literal.by === 'label' ? [label] : [value, label],
    )
    return { literal, suggestion }
  })
}

const maxPeopleCounted = 10_000
const maxCountingMs = 1000

async function findFirstPeople(ctx: Ctx, tenant: SegmentTenant): Promise<{ seqs: number[]; total: number }> {
  const { from, where } = buildPeople(tenant)
  const [seqs, [row]] = await ctx.db.batch([
    sql<{ seq: number }>`select u.seq from ${from} where ${where} limit ${maxPeopleCounted}`,
    sql<{ total: number }>`select ${countPeople(tenant)} as total`,
  ])
  return { seqs: seqs.map(({ seq }) => seq), total: row?.total ?? 0 }
}

/** Tests the first 10,000 people, or as many as it can in a second, for each condition. Extrapolates for more people. */
async function countMembers(ctx: Ctx, tenant: SegmentTenant, conditions: readonly SQL[]): Promise<Estimate[]> {
  const { seqs, total } = await findFirstPeople(ctx, tenant)
  const sums = conditions.map((condition) => sql`coalesce(sum(iif(${condition}, 1, 0)), 0)`)
  const members = conditions.map(() => 0)
  let testedCount = 0
  for (const step of takeSteps(ctx, seqs, maxCountingMs)) {
    const row = await ctx.db.first(
      sql<{ counts: string }>`select json_array(${sql.join(sums, sql`, `)}) as counts
        from json_each(${JSON.stringify(step)}) as person cross join users u on u.seq = person.value`,
    )
    const counts = JSON.parse(row?.counts ?? '[]') as number[]
    for (const [index, count] of counts.entries()) members[index] = (members[index] ?? 0) + count
    testedCount += step.length
  }
  if (testedCount >= total) return members.map((count) => ({ count, isExtrapolated: false }))
  return members.map((count) => ({
    count: Math.round((count * total) / Math.max(1, testedCount)),
    isExtrapolated: true,
  }))
}

/** Counts the people for whom an expression holds, and those who have no value in the fields that it compares. */
async function estimateMembers(
  ctx: Ctx,
  tenant: ExpressionPlace,
  { communication_type, communication_channel }: ValidateCelInput,
  expression: Expression,
): Promise<Pick<Validation, 'estimate' | 'noValueWarnings'>> {
  const now = ctx.now()
  const scope = buildScope(tenant, now)
  const isIncluded =
    communication_type && communication_channel
      ? sql` and ${buildExclusion({ ...tenant, communication_type, communication_channel }, now)} is null`
      : sql``
  const uses = listNullableUses(expression)
  const noValueConditions = uses.map(({ path }) => {
    const checkResult = checkExpression(`${path} == null`)
    return checkResult.ok ? buildPredicate(checkResult.expression, scope) : sql`0`
  })
  const [estimate = unknownEstimate, ...others] = await countMembers(ctx, tenant, [
    sql`(${buildPredicate(expression, scope)}${isIncluded})`,
    ...noValueConditions,
  ])
  const noValueWarnings = others.flatMap((one, index) => {
    const use = uses[index]
    return use && one.count ? [{ use, estimate: one }] : []
  })
  return { estimate, noValueWarnings }
}

const unknownEstimate: Estimate = { count: null, isExtrapolated: false }

/** Returns the errors and warnings of an expression, and for how many people it holds. */
export async function validateCel(ctx: Ctx, input: ValidateCelInput): Promise<Validation> {
  const tenant = await findSegmentTenant(ctx, input, (name, code, detail) =>
    fieldError(name === null ? [] : [name], code, detail),
  )
  const source = input.expression
  const checkResult = checkExpression(source)
  const uncountedPeople = { estimate: unknownEstimate, noValueWarnings: [] }
  if (!checkResult.ok) return { source, checkedExpression: checkResult, warnings: [], ...uncountedPeople }
  return {
    source,
    checkedExpression: checkResult,
    warnings: await findWarnings(ctx, tenant, checkResult.literals),
    ...(await estimateMembers(ctx, tenant, input, checkResult.expression).catch((error: unknown) => {
      if (isStatementFailure(error)) return uncountedPeople
      throw error
    })),
  }
}
