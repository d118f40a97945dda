import { type SQL, sql } from 'drizzle-orm'
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
import { nearest } from '../../../domain/text/nearest.ts'
import { sampleEnding, sampleParts } from '../../../domain/segments.ts'
import { audienceReason, type SegmentTenant, idsOf, peopleOf, scopeOf } from '../calculation/audience.ts'
import { type KnownValue, type ValidateCelInput, valuesShown } from './cel-contract.ts'
import { findTenant } from '../tenant.ts'
import { type KnownValues, knownValues, missingValues } from './known-values.ts'

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
    const meant = nearest(literal.value, known[literal.values_from], ({ value, label }) =>
      literal.by === 'label' ? [label] : [value, label],
    )
    return { literal, meant }
  })
}

/** Up to so many people, all are tested, unless the expression takes long. Of more, a sample is tested. */
const allUpTo = 10_000
const sampled = 2000
const firstParts = 32

const inSample = (id: SQL, parts: number): SQL => sql`and substr(${id}, -2) < ${sampleEnding(parts)}`

/**
 * The number of the 1,024 parts, by the ends of ids, that have as many people as one request can test; null when
 * all people can be tested. Reads some thousand rows of an index, for any number of people.
 */
async function partsOf(ctx: Ctx, tenant: SegmentTenant, work: number): Promise<number | null> {
  const most = Math.min(allUpTo, peopleAStatement(work))
  const all = idsOf(tenant)
  const { from, where, id } = idsOf(tenant, true)
  const some = (parts: number) => sql`from ${from} where ${where} ${inSample(id, parts)}`
  const found = await ctx.db.first(
    sql<{ people: number; few: number; fewer: number }>`select
      (select count(*) from (select 1 from ${all.from} where ${all.where} limit ${most + 1})) as people,
      (select count(*) from (select 1 ${some(firstParts)} limit ${sampled})) as few,
      (select count(*) ${some(1)}) as fewer`,
  )
  const { people, few, fewer } = found ?? { people: 0, few: 0, fewer: 0 }
  if (people <= most) return null
  const perPart = few < sampled ? few / firstParts : fewer
  const parts = Math.round(Math.min(sampled, most) / Math.max(perPart, 1 / sampleParts))
  return Math.min(Math.max(parts, 1), sampleParts - 1)
}

async function estimate(
  ctx: Ctx,
  tenant: SegmentTenant,
  input: ValidateCelInput,
  { expression, sizes }: { expression: Expression; sizes: KnownSizes },
): Promise<Estimate> {
  const { communication_type, communication_channel } = input
  const parts = await partsOf(ctx, tenant, meanWork(expression, sizes.most, sizes.mean))
  const now = ctx.now()
  const predicate = predicateOf(expression, scopeOf(tenant, now))
  const audience =
    communication_type && communication_channel
      ? sql`and ${audienceReason({ ...tenant, communication_type, communication_channel }, now)} is null`
      : sql``
  const isSampled = parts !== null
  const people = peopleOf(tenant, isSampled)
  try {
    const found = await ctx.db.first(
      sql<{ n: number }>`select count(*) as n from ${people.from}
        where ${people.where} ${isSampled ? inSample(people.id, parts) : sql``} and (${predicate}) ${audience}`,
    )
    const count = found?.n ?? 0
    return { count: isSampled ? Math.round((count * sampleParts) / parts) : count, isSampled }
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
