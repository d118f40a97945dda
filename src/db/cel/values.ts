import { type SQL, sql } from 'drizzle-orm'
import type { Type } from '../../domain/cel/index.ts'

/**
 * A value in SQL. An error of CEL is NULL; where the value itself may be null, `ok` marks an error: it holds
 * exactly when there was none.
 */
export interface Value {
  sql: SQL
  nullable: boolean
  fails: boolean
  ok?: SQL
  /** Values of literals, known before the statement runs: integers, and times in milliseconds. */
  constant?: bigint
}

/** Never null and never an error. */
export const total = (expression: SQL): Value => ({ sql: expression, nullable: false, fails: false })
/** NULL is an error. */
export const failing = (expression: SQL): Value => ({ sql: expression, nullable: false, fails: true })
/** NULL is the value null. */
export const optional = (expression: SQL): Value => ({ sql: expression, nullable: true, fails: false })
/** `fails` unless the operands cannot. An operand that may be null fails, as every operator is strict. */
export const strict = (expression: SQL, ...operands: readonly Value[]): Value => ({
  sql: expression,
  nullable: false,
  fails: operands.some((operand) => operand.fails || operand.nullable),
})

/** An integer is compared with a double as a double, precise or not. */
export const besides = (value: Value, own: Type, other: Type): Value => {
  if (own !== 'int' || (other !== 'double' && other !== 'json')) return value
  const { constant: _, ...rest } = value
  return { ...rest, sql: sql`cast(${value.sql} as real)` }
}

export const integer = (value: bigint): Value => ({ ...total(sql.raw(`(${value})`)), constant: value })

/** Holds when the value is no error; null when it never is. */
export function okOf(value: Value): SQL | null {
  if (!value.fails) return null
  return value.ok ?? sql`${value.sql} is not null`
}

/** A tree of the lowest height: SQLite allows a hundred levels. */
export function chain(operator: 'and' | 'or', operands: readonly SQL[]): SQL {
  const [only] = operands
  if (!only) return sql.raw(operator === 'and' ? '1' : '0')
  if (operands.length === 1) return only
  const middle = Math.ceil(operands.length / 2)
  const left = chain(operator, operands.slice(0, middle))
  const right = chain(operator, operands.slice(middle))
  return sql`(${left} ${sql.raw(operator)} ${right})`
}

const present = (conditions: readonly (SQL | null)[]): SQL[] => conditions.filter((condition) => condition !== null)

/** `expression` where all the conditions hold, an error elsewhere. */
export function guarded(conditions: readonly (SQL | null)[], expression: SQL): SQL {
  const needed = present(conditions)
  return needed.length ? sql`case when ${chain('and', needed)} then ${expression} end` : expression
}

export function equals(left: Value, right: Value): Value {
  const fails = left.fails || right.fails
  if (!left.nullable && !right.nullable) return { sql: sql`(${left.sql} = ${right.sql})`, nullable: false, fails }
  const same = sql`(${left.sql} is ${right.sql})`
  return { sql: guarded([okOf(left), okOf(right)], same), nullable: false, fails }
}

/** Values that the statement binds: one by one, or all in one parameter, as D1 allows a hundred. */
export class Constants {
  readonly #packed: boolean
  readonly #values: unknown[] = []

  constructor(packed: boolean) {
    this.#packed = packed
  }

  /** Whether the SQL of a value names no other table: packed ones are read from a row beside each person. */
  get areFixed(): boolean {
    return !this.#packed
  }

  text(value: string): SQL {
    return this.#add(value)
  }

  double(value: number): SQL {
    return sql`cast(${this.#add(value)} as real)`
  }

  #add(value: string | number): SQL {
    this.#values.push(value)
    return this.#packed ? sql.raw(`json_extract(k.v, '$[${this.#values.length - 1}]')`) : sql`${value}`
  }

  /** The `from` of an expression that uses the values. */
  sources(): SQL[] {
    return this.#packed ? [sql`(select ${JSON.stringify(this.#values)} as v) k`] : []
  }
}
