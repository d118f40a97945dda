import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { buildPredicate } from '../../../db/cel/index.ts'
import { isStatementFailure } from '../../../db/failures.ts'
import {
  type CelError,
  type CheckedExpression,
  checkExpression,
  type Expression,
  type KnownLiteral,
} from '../../../domain/cel/index.ts'
import { fieldError, invalid } from '../../../domain/errors.ts'
import { findNearest } from '../../../domain/text/nearest.ts'
import { buildExclusion, buildPeople, buildScope, countPeople, type SegmentTenant } from '../calculation/audience.ts'
import { chooseStepSize, firstStepSize } from '../calculation/calculation.ts'
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
  const checked = checkExpression(source)
  if (!checked.ok) throw buildInvalid(checked.errors)
  return { expression: source, is_time_dependent: checked.isTimeDependent }
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

export interface Validation {
  source: string
  checked: CheckedExpression
  warnings: UnknownValueWarning[]
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
  const unlisted = literals.filter(
    ({ values_from, by, value }) => !knownValues[values_from].some((candidate) => candidate[by] === value),
  )
  const missing = await findMissingLiterals(ctx, tenant, knownValues, unlisted)
  return missing.map((literal) => {
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

/** Tests the first 10,000 people, or as many as it can in a second. When there are more, it extrapolates. */
async function estimateMembers(
  ctx: Ctx,
  tenant: SegmentTenant,
  { communication_type, communication_channel }: ValidateCelInput,
  expression: Expression,
): Promise<Estimate> {
  const { seqs, total } = await findFirstPeople(ctx, tenant)
  const startedAt = ctx.now()
  const predicate = buildPredicate(expression, buildScope(tenant, startedAt))
  const isIncluded =
    communication_type && communication_channel
      ? sql`and ${buildExclusion({ ...tenant, communication_type, communication_channel }, startedAt)} is null`
      : sql``
  let [tested, members, size] = [0, 0, firstStepSize]
  while (tested < seqs.length && ctx.now() - startedAt < maxCountingMs) {
    const stepStartedAt = ctx.now()
    const step = seqs.slice(tested, tested + size)
    const row = await ctx.db.first(
      sql<{ n: number }>`select count(*) as n from json_each(${JSON.stringify(step)}) as person
        cross join users u on u.seq = person.value where ${predicate} ${isIncluded}`,
    )
    members += row?.n ?? 0
    tested += step.length
    size = chooseStepSize(size, ctx.now() - stepStartedAt)
  }
  if (tested >= total) return { count: members, isExtrapolated: false }
  return { count: Math.round((members * total) / Math.max(1, tested)), isExtrapolated: true }
}

/** Returns the errors and warnings of an expression, and for how many people it holds. */
export async function validateExpression(ctx: Ctx, input: ValidateCelInput): Promise<Validation> {
  const tenant = await findSegmentTenant(ctx, input, (name, code, detail) =>
    fieldError(name === null ? [] : [name], code, detail),
  )
  const source = input.expression
  const checked = checkExpression(source)
  const uncounted: Estimate = { count: null, isExtrapolated: false }
  if (!checked.ok) return { source, checked, warnings: [], estimate: uncounted }
  return {
    source,
    checked,
    warnings: await findWarnings(ctx, tenant, checked.literals),
    estimate: await estimateMembers(ctx, tenant, input, checked.expression).catch((error: unknown) => {
      if (isStatementFailure(error)) return uncounted
      throw error
    }),
  }
}
