import { type SQL, sql } from 'drizzle-orm'
import type { Type } from '../../domain/cel/index.ts'

/** A value in SQL. An error of CEL is NULL. */
export interface Value {
  sql: SQL
  /** True if the value can be null in CEL. */
  nullable: boolean
  /** True if the value can be an error. */
  fails: boolean
  /** Holds unless the value is an error. Only a value that can be null and an error needs it. */
  ok?: SQL
  /** The value of an integer, timestamp or duration literal. */
  constant?: bigint
}

/** A value that is never null and never an error. */
export const plainValue = (expression: SQL): Value => ({ sql: expression, nullable: false, fails: false })
/** A value for which NULL is an error. */
export const failingValue = (expression: SQL): Value => ({ sql: expression, nullable: false, fails: true })
/** A value for which NULL is null, and that is never an error. */
export const nullableValue = (expression: SQL): Value => ({ sql: expression, nullable: true, fails: false })
/** The result of an operator for which a null or failing operand is an error. */
export const strictValue = (expression: SQL, ...operands: readonly Value[]): Value => ({
  sql: expression,
  nullable: false,
  fails: operands.some((operand) => operand.fails || operand.nullable),
})

/** CEL compares an integer with a double as a double. */
export const castForComparison = (value: Value, type: Type, other: Type): Value => {
  if (type !== 'int' || (other !== 'double' && other !== 'json')) return value
  const { constant: _, ...rest } = value
  return { ...rest, sql: sql`cast(${value.sql} as real)` }
}

export const integerValue = (value: bigint): Value => ({ ...plainValue(sql.raw(`(${value})`)), constant: value })

/** A condition that holds unless the value is an error; null when it cannot be one. */
export function buildOk(value: Value): SQL | null {
  if (!value.fails) return null
  return value.ok ?? sql`${value.sql} is not null`
}

/** Builds a balanced tree, because SQLite allows an expression depth of 100. */
export function buildConjunction(operator: 'and' | 'or', operands: readonly SQL[]): SQL {
  const [only] = operands
  if (!only) return sql.raw(operator === 'and' ? '1' : '0')
  if (operands.length === 1) return only
  const middle = Math.ceil(operands.length / 2)
  const left = buildConjunction(operator, operands.slice(0, middle))
  const right = buildConjunction(operator, operands.slice(middle))
  return sql`(${left} ${sql.raw(operator)} ${right})`
}

/** `expression` if all conditions hold, and an error otherwise. */
export function guardValue(conditions: readonly (SQL | null)[], expression: SQL): SQL {
  const necessaryConditions = conditions.filter((condition) => condition !== null)
  return necessaryConditions.length
    ? sql`case when ${buildConjunction('and', necessaryConditions)} then ${expression} end`
    : expression
}

export function compareValues(left: Value, right: Value): Value {
  const fails = left.fails || right.fails
  if (!left.nullable && !right.nullable) return { sql: sql`(${left.sql} = ${right.sql})`, nullable: false, fails }
  const isSame = sql`(${left.sql} is ${right.sql})`
  return { sql: guardValue([buildOk(left), buildOk(right)], isSame), nullable: false, fails }
}

/**
 * Bound constants of a statement. `isPacked` binds all of them as one JSON parameter, because D1 allows 100 parameters.
 */
export class Constants {
  readonly #isPacked: boolean
  readonly #values: unknown[] = []

  constructor(isPacked: boolean) {
    this.#isPacked = isPacked
  }

  /** False for packed constants, whose SQL reads a row of its own. */
  get areParameters(): boolean {
    return !this.#isPacked
  }

  text(value: string): SQL {
    return this.#add(value)
  }

  double(value: number): SQL {
    return sql`cast(${this.#add(value)} as real)`
  }

  #add(value: string | number): SQL {
    if (!this.#isPacked) return sql`${value}`
    if (!this.#values.includes(value)) this.#values.push(value)
    return sql.raw(`json_extract(k.v, '$[${this.#values.indexOf(value)}]')`)
  }

  /** The `from` clause that the SQL of packed constants needs. */
  buildSources(): SQL[] {
    return this.#isPacked ? [sql`(select ${JSON.stringify(this.#values)} as v) k`] : []
  }
}
