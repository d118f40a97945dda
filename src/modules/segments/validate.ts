import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { predicateOf } from '../../db/cel/index.ts'
import { isStatementFailure } from '../../db/failures.ts'
import { type Checked, checkExpression, type Expression, type KnownLiteral } from '../../domain/cel/index.ts'
import { fieldError } from '../../domain/errors.ts'
import { nearest } from '../../domain/nearest.ts'
import { audienceReason, type Home, idsOf, peopleOf, scopeOf } from './audience.ts'
import type { ValidateCelInput, ValueKind } from './cel-contract.ts'
import { findHome } from './home.ts'
import { type KnownValues, knownValues, missingValues, valuesShown } from './known-values.ts'

export interface Warning {
  literal: KnownLiteral
  suggestion: string | null
}

export interface Validation {
  source: string
  checked: Checked
  warnings: Warning[]
  estimate: number | null
}

async function warningsOf(ctx: Ctx, home: Home, literals: readonly KnownLiteral[]): Promise<Warning[]> {
  if (literals.length === 0) return []
  const known: KnownValues = await knownValues(ctx.db, home)
  const strange = literals.filter(
    ({ values_from, value }) => !known[values_from].some((candidate) => candidate.value === value),
  )
  // A full list is not all that there is.
  const full = [...new Set(strange.map(({ values_from }) => values_from))].filter(
    (kind) => known[kind].length >= valuesShown,
  )
  const missing = new Map<ValueKind, string[]>()
  for (const kind of full) {
    const values = strange.filter((literal) => literal.values_from === kind).map(({ value }) => value)
    missing.set(kind, await missingValues(ctx.db, home, kind, values))
  }
  return strange
    .filter(({ values_from, value }) => missing.get(values_from)?.includes(value) ?? true)
    .map((literal) => ({
      literal,
      suggestion:
        nearest(literal.value, known[literal.values_from], ({ value, label }) => [value, label])?.value ?? null,
    }))
}

/** Up to so many people all are counted; of more a thirty-second, told by the last letter of their random ids. */
const allUpTo = 20_000
const sampleLetter = 'Z'
const sampleShare = 32

async function estimate(ctx: Ctx, home: Home, input: ValidateCelInput, expression: Expression): Promise<number | null> {
  const { communication_type, communication_channel } = input
  const [ids, people] = [idsOf(home), peopleOf(home)]
  const population = await ctx.db.first(sql<{ n: number }>`select count(*) as n from ${ids.from} where ${ids.where}`)
  const isSampled = (population?.n ?? 0) > allUpTo
  const now = ctx.now()
  const predicate = predicateOf(expression, scopeOf(home, now))
  const audience =
    communication_type && communication_channel
      ? sql`and ${audienceReason({ ...home, communication_type, communication_channel }, now)} is null`
      : sql``
  const sampled = isSampled ? sql`and substr(${people.id}, -1) = ${sampleLetter}` : sql``
  try {
    const found = await ctx.db.first(
      sql<{ n: number }>`select count(*) as n from ${people.from}
        where ${people.where} ${sampled} and (${predicate}) ${audience}`,
    )
    return (found?.n ?? 0) * (isSampled ? sampleShare : 1)
  } catch (error) {
    if (isStatementFailure(error)) return null
    throw error
  }
}

/** What is wrong with an expression, what looks wrong, and how many people it is about. */
export async function validateExpression(ctx: Ctx, input: ValidateCelInput): Promise<Validation> {
  const home = await findHome(ctx, input, (name, code, detail) => fieldError(name === null ? [] : [name], code, detail))
  const source = input.expression
  const checked = checkExpression(source)
  if (!checked.ok) return { source, checked, warnings: [], estimate: null }
  return {
    source,
    checked,
    warnings: await warningsOf(ctx, home, checked.literals),
    estimate: await estimate(ctx, home, input, checked.expression),
  }
}
