import { type SQL, sql } from 'drizzle-orm'
import type { Expression } from '../../domain/cel/index.ts'
import { durationRange, timestampRange } from '../../domain/cel/instants.ts'
import { boundedDuration, boundedInteger, boundedTimestamp, called, converted } from './calls.ts'
import {
  type BoundScope,
  consentColumn,
  editionColumn,
  hasConsent,
  isOfProductNamed,
  orderColumns,
  purchaseColumns,
  type ExpressionScope,
  statsColumns,
} from './columns.ts'
import type { ExpressionLowering } from './expression-lowering.ts'
import { type Json, jsonAs, jsonAt, jsonEquals, sizeOfJson } from './json.ts'
import { contains, macro, rowsOf } from './lists.ts'
import { Person } from './person.ts'
import { type ElementSql, sizeOf } from './rows.ts'
import { besides, chain, Constants, equals, failing, integer, okOf, strict, total, type Value } from './values.ts'
import type { ExpressionOf } from '../../domain/cel/types.ts'

/** Converts checked expressions into SQL over `users u`. */
export class Lowering implements ExpressionLowering {
  readonly constants: Constants
  readonly bound: BoundScope
  readonly #person: Person
  readonly #elements: { name: string; element: ElementSql }[] = []
  #aliases = 0

  constructor(scope: ExpressionScope, constants: Constants) {
    this.constants = constants
    this.#person = new Person(scope)
    const text = (value: string) => constants.text(value)
    this.bound = {
      ...scope,
      text,
      organization: () => text(scope.organizationId),
      alias: (letter) => sql.raw(`${letter}${++this.#aliases}`),
    }
  }

  value(expression: Expression, positive = false): Value {
    switch (expression.node) {
      case 'literal':
        return this.#literal(expression)
      case 'now':
        return integer(BigInt(this.bound.now))
      case 'variable':
        return this.#element(expression.name, 'value')
      case 'field':
        return this.#field(expression)
      case 'has_consent':
        return hasConsent(expression.key, this.bound)
      case 'has_member':
        return this.json(expression.object).has(expression.key)
      case 'as':
        return jsonAs(this.json(expression.operand), expression.type)
      case 'and':
      case 'or': {
        const operands = expression.operands.map((operand) => this.value(operand, positive))
        return strict(
          chain(
            expression.node,
            operands.map((operand) => operand.sql),
          ),
          ...operands,
        )
      }
      case 'not': {
        const operand = this.value(expression.operand)
        return strict(sql`(not ${operand.sql})`, operand)
      }
      case 'minus':
        return this.#minus(expression)
      case 'arithmetic':
        return this.#arithmetic(expression)
      case 'compare':
        return this.#compare(expression)
      case 'in':
        return contains(this, expression, positive)
      case 'choice':
        return this.#choice(expression, positive)
      case 'call':
        return this.#call(expression)
      case 'macro':
        return macro(this, expression, positive)
      default:
        throw new Error(`no value: ${expression.node}`)
    }
  }

  json(expression: Expression): Json {
    if (expression.node === 'member') return this.json(expression.object).member(expression.key)
    if (expression.node === 'field') {
      const { object } = expression
      const isOfRow = object.node === 'variable' && object.type !== 'user'
      const document = isOfRow ? sql`${this.row(object.name)}.metadata` : this.#person.metadata()
      return jsonAt(document, '$', this.bound.text)
    }
    if (expression.node === 'variable') return this.#element(expression.name, 'json')
    throw new Error(`no metadata: ${expression.node}`)
  }

  /** A lowered expression with its named values. One select has both, because SQLite limits the depth. */
  around(expression: SQL): SQL {
    const sources = [...this.constants.sources(), ...this.#person.sources()]
    return sources.length ? sql`(select ${expression} from ${sql.join(sources, sql`, `)})` : expression
  }

  with<T>(name: string, element: ElementSql, inside: () => T): T {
    this.#elements.push({ name, element })
    try {
      return inside()
    } finally {
      this.#elements.pop()
    }
  }

  row(name: string): SQL {
    return this.#element(name, 'row')
  }

  purchaseNamed(expression: Expression): SQL | null {
    if (expression.node !== 'field' || expression.name !== 'product_name' || !this.constants.areFixed) return null
    const { object } = expression
    return object.node === 'variable' && object.type === 'purchase' ? this.row(object.name) : null
  }

  #element(name: string, kind: 'row'): SQL
  #element(name: string, kind: 'value'): Value
  #element(name: string, kind: 'json'): Json
  #element(name: string, kind: string): unknown {
    const element = this.#elements.findLast((one) => one.name === name)?.element
    if (!element || !Object.hasOwn(element, kind)) throw new Error(`${name} is no ${kind}`)
    return (element as Record<string, unknown>)[kind]
  }

  #literal({ value }: ExpressionOf<'literal'>): Value {
    if (value === null) return { sql: sql`null`, nullable: true, fails: false }
    if (typeof value === 'bigint') return integer(value)
    if (typeof value === 'boolean') return total(sql.raw(value ? '1' : '0'))
    if (typeof value === 'number') return total(this.constants.double(value))
    return total(this.constants.text(value))
  }

  #field({ object, name }: ExpressionOf<'field'>): Value {
    const { type } = object
    if (object.node === 'consent') return consentColumn(name, object.key, this.bound)
    if (type === 'edition') return editionColumn(name, this.bound)
    if (type === 'stats') return known(statsColumns[name])(this.bound)
    if (type === 'user') return known(this.#person.field(name))
    if (object.node !== 'variable') throw new Error(`no field: ${name}`)
    const columns = type === 'order' ? orderColumns : purchaseColumns
    return known(columns[name])(this.row(object.name))
  }

  #minus({ operand, type }: ExpressionOf<'minus'>): Value {
    const value = this.value(operand)
    return type === 'int' ? boundedInteger(sql`-${value.sql}`) : strict(sql`(-${value.sql})`, value)
  }

  #arithmetic({ operator, left, right, type }: ExpressionOf<'arithmetic'>): Value {
    const a = this.value(left)
    const b = this.value(right)
    if (type === 'string') return strict(sql`(${a.sql} || ${b.sql})`, a, b)
    const made = sql`(${a.sql} ${sql.raw(operator)} ${b.sql})`
    if (type === 'double') return strict(made, a, b)
    if (type === 'int') return boundedInteger(made)
    const range = type === 'timestamp' ? timestampRange : durationRange
    if (a.constant !== undefined && b.constant !== undefined) {
      const sum = operator === '+' ? a.constant + b.constant : a.constant - b.constant
      return sum < range.from || sum > range.to ? failing(sql`null`) : integer(sum)
    }
    return type === 'timestamp' ? boundedTimestamp(made) : boundedDuration(made)
  }

  #compare({ operator, left, right }: ExpressionOf<'compare'>): Value {
    if (operator !== '==' && operator !== '!=') {
      const a = besides(this.value(left), left.type, right.type)
      const b = besides(this.value(right), right.type, left.type)
      return strict(sql`(${a.sql} ${sql.raw(operator)} ${b.sql})`, a, b)
    }
    const same = this.#equality(left, right)
    return operator === '==' ? same : { ...same, sql: sql`(not ${same.sql})` }
  }

  #equality(left: Expression, right: Expression): Value {
    const a = () => besides(this.value(left), left.type, right.type)
    const b = () => besides(this.value(right), right.type, left.type)
    if (left.type === 'json') return jsonEquals(this.json(left), b(), right.type)
    if (right.type === 'json') return jsonEquals(this.json(right), a(), left.type)
    return this.#isNamed(left, right) ?? this.#isNamed(right, left) ?? equals(a(), b())
  }

  /** Whether a product has a name that is written out; null where other things are compared. */
  #isNamed(field: Expression, name: Expression): Value | null {
    const purchase = name.node === 'literal' && name.type === 'string' ? this.purchaseNamed(field) : null
    return purchase && isOfProductNamed(purchase, (column) => sql`${column} = ${this.value(name).sql}`, this.bound)
  }

  #choice({ condition, chosen, otherwise, nullable }: ExpressionOf<'choice'>, positive: boolean): Value {
    const test = this.value(condition)
    const branches = [this.value(chosen, positive), this.value(otherwise, positive)] as const
    const either = ([yes, no]: readonly [SQL, SQL]) => sql`(case ${test.sql} when 1 then ${yes} when 0 then ${no} end)`
    const fails = [test, ...branches].some((value) => value.fails)
    const made = { sql: either([branches[0].sql, branches[1].sql]), nullable, fails }
    if (!nullable || !fails) return made
    const [yes, no] = branches.map((branch) => okOf(branch) ?? sql`1`)
    return { ...made, ok: sql`coalesce(${either([yes ?? sql`1`, no ?? sql`1`])}, 0)` }
  }

  #call({ name, args }: ExpressionOf<'call'>): Value {
    const [first] = args
    if (!first) throw new Error(`no argument: ${name}`)
    if (name === 'size' && first.type === 'json') return sizeOfJson(this.json(first))
    if (name === 'size' && typeof first.type === 'object') return sizeOf(rowsOf(this, first))
    if (name === 'int' && first.type === 'json') return this.#integerOf(this.json(first))
    const isConversion = ['int', 'double', 'string', 'bool', 'timestamp', 'duration'].includes(name)
    if (isConversion)
      return first.type === name ? this.value(first) : converted(this.value(first), first.type as string, name)
    return called(
      name,
      first.type as string,
      args.map((arg) => this.value(arg)),
    )
  }

  #integerOf(json: Json): Value {
    const number = converted(jsonAs(json, 'double'), 'double', 'int')
    const text = converted(jsonAs(json, 'string'), 'string', 'int')
    return failing(sql`case ${json.type} when 'text' then ${text.sql} else ${number.sql} end`)
  }
}

/** The lowering of a field of the catalogue; a test lowers every field. */
function known<T>(column: T | undefined): T {
  if (column === undefined) throw new Error('a field of the catalogue has no column')
  return column
}
