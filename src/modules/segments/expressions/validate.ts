import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { predicateOf } from '../../../db/cel/index.ts'
import { isStatementFailure } from '../../../db/failures.ts'
import { findListSizes, type KnownSizes, readListSizes } from '../../../db/cel/list-sizes.ts'
import {
  type CheckedExpression,
  checkExpression,
  costError,
  type Expression,
  hasLists,
  type KnownLiteral,
  meanWork,
  peopleAStatement,
} from '../../../domain/cel/index.ts'
import { fieldError } from '../../../domain/errors.ts'
import { findNearest } from '../../../domain/text/nearest.ts'
import { audienceReason, type SegmentTenant, peopleOf, scopeOf } from '../calculation/audience.ts'
import { type KnownValue, type ValidateCelInput, valuesShown } from './cel-contract.ts'
import { findTenant } from '../tenant.ts'
import { type KnownValues, knownValues, missingValues } from './known-values.ts'
import { sampleFor } from './sample.ts'

export interface Warning {
  literal: KnownLiteral
  /** The known value that is most like it. */
  meant: KnownValue | null
}

/** How many people an expression holds for; null when the database could not say. */
interface Estimate {
  count: number | null
  isSampled: boolean
}

export interface Validation {
  source: string
  checked: CheckedExpression
  warnings: Warning[]
  estimate: Estimate
}

/** Of literals that the shown values lack, those that nothing has: a full list is not all that there is. */
async function missingLiterals(ctx: Ctx, tenant: SegmentTenant, known: KnownValues, strange: readonly KnownLiteral[]) {
  const missing = new Map<string, string[]>()
  const keyOf = ({ values_from, by }: KnownLiteral) => `${values_from} ${by}`
  for (const [key, literals] of Map.groupBy(strange, keyOf)) {
    const [{ values_from: kind, by }] = literals as [KnownLiteral]
    if (known[kind].length < valuesShown) continue
    const values = literals.map(({ value }) => value)
    missing.set(key, await missingValues(ctx.db, tenant, { kind, by, values }))
  }
  return strange.filter((literal) => missing.get(keyOf(literal))?.includes(literal.value) ?? true)
}

async function warningsOf(ctx: Ctx, tenant: SegmentTenant, literals: readonly KnownLiteral[]): Promise<Warning[]> {
  if (literals.length === 0) return []
  const known: KnownValues = await knownValues(ctx.db, tenant)
  const strange = literals.filter(
    ({ values_from, by, value }) => !known[values_from].some((candidate) => candidate[by] === value),
  )
  const missing = await missingLiterals(ctx, tenant, known, strange)
  return missing.map((literal) => {
    const meant = findNearest(literal.value, known[literal.values_from], ({ value, label }) =>
      literal.by === 'label' ? [label] : [value, label],
    )
    return { literal, meant }
  })
}

async function estimate(
  ctx: Ctx,
  tenant: SegmentTenant,
  input: ValidateCelInput,
  { expression, sizes }: { expression: Expression; sizes: KnownSizes },
): Promise<Estimate> {
  const { communication_type, communication_channel } = input
  const work = meanWork(expression, sizes.most, sizes.mean)
  const sample = await sampleFor(ctx, tenant, peopleAStatement(work))
  const now = ctx.now()
  const predicate = predicateOf(expression, scopeOf(tenant, now))
  const audience =
    communication_type && communication_channel
      ? sql`and ${audienceReason({ ...tenant, communication_type, communication_channel }, now)} is null`
      : sql``
  const isSampled = sample !== null
  const people = sample?.people ?? peopleOf(tenant)
  try {
    const found = await ctx.db.first(
      sql<{ n: number }>`select count(*) as n from ${people.from}
        where ${people.where} and (${predicate}) ${audience}`,
    )
    const count = found?.n ?? 0
    return { count: sample ? Math.round(count / sample.share) : count, isSampled }
  } catch (error) {
    if (isStatementFailure(error)) return { count: null, isSampled }
    throw error
  }
}

const nothing: Estimate = { count: null, isSampled: false }

const sizesFor = async (ctx: Ctx, tenant: SegmentTenant, expression: Expression): Promise<KnownSizes> =>
  hasLists(expression) ? findListSizes(ctx.db, tenant.organization_id) : readListSizes(null)

/** What is wrong with an expression, what looks wrong, and how many people it is about. */
export async function validateExpression(ctx: Ctx, input: ValidateCelInput): Promise<Validation> {
  const tenant = await findTenant(ctx, input, (name, code, detail) =>
    fieldError(name === null ? [] : [name], code, detail),
  )
  const source = input.expression
  const refused = (checked: CheckedExpression): Validation => ({ source, checked, warnings: [], estimate: nothing })
  const checked = checkExpression(source)
  if (!checked.ok) return refused(checked)
  const { expression } = checked
  const sizes = await sizesFor(ctx, tenant, expression)
  const error = costError(expression, source, sizes.most)
  if (error) return refused({ ok: false, errors: [error] })
  return {
    source,
    checked,
    warnings: await warningsOf(ctx, tenant, checked.literals),
    estimate: await estimate(ctx, tenant, input, { expression, sizes }),
  }
}
