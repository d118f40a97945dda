import { type SQL, sql } from 'drizzle-orm'
import type { Expression } from '../../domain/cel/index.ts'
import { durationRange, timestampRange } from '../../domain/cel/instants.ts'
import type { ExpressionOf, ObjectName } from '../../domain/cel/types.ts'
import {
  checkDurationRange,
  checkIntegerRange,
  checkTimestampRange,
  callFunction,
  convert,
  countDaysBetween,
  toLocalTime,
} from './calls.ts'
import {
  type BoundScope,
  lowerConsentField,
  lowerEditionField,
  hasConsent,
  hasProductName,
  isBoughtByPerson,
  isReceivedByPerson,
  messageFields,
  orderFields,
  purchaseFields,
  type ExpressionScope,
  statsFields,
  useFields,
} from './columns.ts'
import { type Json, convertJson, readJsonPath, compareJson, countJson } from './json.ts'
import { lowerIn, lowerList, lowerMacro } from './lists.ts'
import { Person } from './person.ts'
import { countElements, type ElementSql, type ListLowering } from './rows.ts'
import {
  buildOk,
  castForComparison,
  compareValues,
  Constants,
  failingValue,
  guardValue,
  integerValue,
  buildConjunction,
  plainValue,
  strictValue,
  type Value,
} from './values.ts'

/** A nested list is read once per element of the outer list, so a person may have at most this many rows. */
export const maxNestedRows = 200

const elementFields: Partial<Record<ObjectName, typeof orderFields>> = {
  order: orderFields,
  purchase: purchaseFields,
  use: useFields,
  campaign_message: messageFields,
}

/** Lowers checked expressions to SQL over `users u`. */
export class Lowering implements ListLowering {
  readonly constants: Constants
  readonly scope: BoundScope
  readonly #person: Person
  readonly #elements: { name: string; element: ElementSql }[] = []
  #aliases = 0
  #hasNestedLists = false

  constructor(scope: ExpressionScope, constants: Constants) {
    this.constants = constants
    this.#person = new Person(scope)
    const text = (value: string) => constants.text(value)
    this.scope = {
      ...scope,
      text,
      organization: () => text(scope.organizationId),
      alias: (letter) => sql.raw(`${letter}${++this.#aliases}`),
    }
  }

  lower(expression: Expression, errorIsFalse = false): Value {
    switch (expression.node) {
      case 'literal':
        return this.#lowerLiteral(expression)
      case 'now':
        return integerValue(BigInt(this.scope.now))
      case 'variable':
        return this.#findElement(expression.name, 'value')
      case 'field':
        return this.#lowerField(expression)
      case 'has_consent':
        return hasConsent(expression.key, this.scope)
      case 'has_member':
        return this.lowerJson(expression.object).has(expression.key)
      case 'as':
        return convertJson(this.lowerJson(expression.operand), expression.type)
      case 'and':
      case 'or': {
        const operands = expression.operands.map((operand) => this.lower(operand, errorIsFalse))
        return strictValue(
          buildConjunction(
            expression.node,
            operands.map((operand) => operand.sql),
          ),
          ...operands,
        )
      }
      case 'not': {
        const operand = this.lower(expression.operand)
        return strictValue(sql`(not ${operand.sql})`, operand)
      }
      case 'minus':
        return this.#lowerMinus(expression)
      case 'arithmetic':
        return this.#lowerArithmetic(expression)
      case 'compare':
        return this.#lowerCompare(expression)
      case 'in':
        return lowerIn(this, expression, errorIsFalse)
      case 'choice':
        return this.#lowerChoice(expression, errorIsFalse)
      case 'call':
        return this.#lowerCall(expression)
      case 'macro':
        return lowerMacro(this, expression, errorIsFalse)
      default:
        throw new Error(`${expression.node} is not a value`)
    }
  }

  lowerJson(expression: Expression): Json {
    if (expression.node === 'member') return this.lowerJson(expression.object).member(expression.key)
    if (expression.node === 'field') {
      const { object } = expression
      const isOfRow = object.node === 'variable' && object.type !== 'user'
      const document = isOfRow ? sql`${this.findRow(object.name)}.metadata` : this.#person.selectMetadata()
      return readJsonPath(document, '$', this.scope.text)
    }
    if (expression.node === 'variable') return this.#findElement(expression.name, 'json')
    throw new Error(`${expression.node} is not metadata`)
  }

  noteUnlimitedList(): void {
    if (this.#elements.length > 0) this.#hasNestedLists = true
  }

  /** Adds the `from` clause and the limit of nested lists to a lowered expression. */
  wrap(expression: SQL): SQL {
    const limitedExpression = this.#hasNestedLists ? guardValue([this.#hasShortLists()], expression) : expression
    const sources = [...this.constants.buildSources(), ...this.#person.buildSources()]
    // One select has all sources, because SQLite limits the depth.
    return sources.length
      ? sql`(select ${limitedExpression} from ${sql.join(sources, sql`, `)})`
      : sql`(${limitedExpression})`
  }

  #hasShortLists(): SQL {
    const [order, purchase, engagement] = [this.scope.alias('o'), this.scope.alias('p'), this.scope.alias('r')]
    const lists = [
      sql`orders ${order} where ${isBoughtByPerson(order, this.scope)}`,
      sql`purchases ${purchase} where ${isBoughtByPerson(purchase, this.scope)}`,
      sql`campaign_receipts ${engagement} where ${isReceivedByPerson(engagement, this.scope)}`,
    ]
    const limit = sql.raw(String(maxNestedRows))
    return buildConjunction(
      'and',
      lists.map((list) => sql`(select count(*) from (select 1 from ${list} limit ${limit} + 1)) <= ${limit}`),
    )
  }

  withVariable<T>(name: string, element: ElementSql, work: () => T): T {
    this.#elements.push({ name, element })
    try {
      return work()
    } finally {
      this.#elements.pop()
    }
  }

  findRow(name: string): SQL {
    return this.#findElement(name, 'row')
  }

  findPurchaseOfProductName(expression: Expression): SQL | null {
    if (expression.node !== 'field' || expression.name !== 'product_name' || !this.constants.areParameters) return null
    const { object } = expression
    return object.node === 'variable' && object.type === 'purchase' ? this.findRow(object.name) : null
  }

  #findElement(name: string, kind: 'row'): SQL
  #findElement(name: string, kind: 'value'): Value
  #findElement(name: string, kind: 'json'): Json
  #findElement(name: string, kind: string): unknown {
    const element = this.#elements.findLast((candidate) => candidate.name === name)?.element
    if (!element || !Object.hasOwn(element, kind)) throw new Error(`${name} is not a ${kind}`)
    return (element as Record<string, unknown>)[kind]
  }

  #lowerLiteral({ value }: ExpressionOf<'literal'>): Value {
    if (value === null) return { sql: sql`null`, nullable: true, fails: false }
    if (typeof value === 'bigint') return integerValue(value)
    if (typeof value === 'boolean') return plainValue(sql.raw(value ? '1' : '0'))
    if (typeof value === 'number') return plainValue(this.constants.double(value))
    return plainValue(this.constants.text(value))
  }

  #lowerField({ object, name }: ExpressionOf<'field'>): Value {
    const { type } = object
    if (object.node === 'consent') return lowerConsentField(name, object.key, this.scope)
    if (type === 'edition') return lowerEditionField(name, this.scope)
    if (type === 'stats') {
      this.noteUnlimitedList()
      return requireField(statsFields[name])(this.scope)
    }
    if (type === 'user') return requireField(this.#person.lowerField(name))
    if (object.node !== 'variable') throw new Error(`${name} is not a field of an element`)
    return requireField(elementFields[type as ObjectName]?.[name])(this.findRow(object.name))
  }

  #lowerMinus({ operand, type }: ExpressionOf<'minus'>): Value {
    const value = this.lower(operand)
    return type === 'int' ? checkIntegerRange(sql`-${value.sql}`) : strictValue(sql`(-${value.sql})`, value)
  }

  #lowerArithmetic({ operator, left, right, type }: ExpressionOf<'arithmetic'>): Value {
    const a = this.lower(left)
    const b = this.lower(right)
    if (type === 'string') return strictValue(sql`(${a.sql} || ${b.sql})`, a, b)
    const result = sql`(${a.sql} ${sql.raw(operator)} ${b.sql})`
    if (type === 'double') return strictValue(result, a, b)
    if (type === 'int') return checkIntegerRange(result)
    const range = type === 'timestamp' ? timestampRange : durationRange
    if (a.constant !== undefined && b.constant !== undefined) {
      const sum = operator === '+' ? a.constant + b.constant : a.constant - b.constant
      return sum < range.from || sum > range.to ? failingValue(sql`null`) : integerValue(sum)
    }
    return type === 'timestamp' ? checkTimestampRange(result) : checkDurationRange(result)
  }

  #lowerCompare({ operator, left, right }: ExpressionOf<'compare'>): Value {
    if (operator !== '==' && operator !== '!=') {
      const a = castForComparison(this.lower(left), left.type, right.type)
      const b = castForComparison(this.lower(right), right.type, left.type)
      return strictValue(sql`(${a.sql} ${sql.raw(operator)} ${b.sql})`, a, b)
    }
    const equality = this.#lowerEquality(left, right)
    return operator === '==' ? equality : { ...equality, sql: sql`(not ${equality.sql})` }
  }

  #lowerEquality(left: Expression, right: Expression): Value {
    const lowerLeft = () => castForComparison(this.lower(left), left.type, right.type)
    const lowerRight = () => castForComparison(this.lower(right), right.type, left.type)
    if (left.type === 'json') return compareJson(this.lowerJson(left), lowerRight(), right.type)
    if (right.type === 'json') return compareJson(this.lowerJson(right), lowerLeft(), left.type)
    return (
      this.#lowerProductName(left, right) ??
      this.#lowerProductName(right, left) ??
      compareValues(lowerLeft(), lowerRight())
    )
  }

  /** Null unless a product name is compared with a text literal. */
  #lowerProductName(field: Expression, name: Expression): Value | null {
    const purchase = name.node === 'literal' && name.type === 'string' ? this.findPurchaseOfProductName(field) : null
    return purchase && hasProductName(purchase, (column) => sql`${column} = ${this.lower(name).sql}`, this.scope)
  }

  #lowerChoice({ condition, consequence, otherwise, nullable }: ExpressionOf<'choice'>, errorIsFalse: boolean): Value {
    const test = this.lower(condition)
    const branches = [this.lower(consequence, errorIsFalse), this.lower(otherwise, errorIsFalse)] as const
    const choose = (yes: SQL, no: SQL) => sql`(case ${test.sql} when 1 then ${yes} when 0 then ${no} end)`
    const fails = [test, ...branches].some((value) => value.fails)
    const value = { sql: choose(branches[0].sql, branches[1].sql), nullable, fails }
    if (!nullable || !fails) return value
    const isOk = choose(buildOk(branches[0]) ?? sql`1`, buildOk(branches[1]) ?? sql`1`)
    return { ...value, ok: sql`coalesce(${isOk}, 0)` }
  }

  #lowerCall({ name, args }: ExpressionOf<'call'>): Value {
    const [first] = args
    if (!first) throw new Error(`${name} has no argument`)
    if (name === 'size' && first.type === 'json') return countJson(this.lowerJson(first))
    if (name === 'size' && typeof first.type === 'object') return countElements(lowerList(this, first))
    if (name === 'int' && first.type === 'json') return this.#lowerInteger(this.lowerJson(first))
    const isConversion = ['int', 'double', 'string', 'bool', 'timestamp', 'duration'].includes(name)
    if (isConversion)
      return first.type === name ? this.lower(first) : convert(this.lower(first), first.type as string, name)
    if (name === 'getDayOfEdition') return this.#lowerDayOfEdition(first)
    const [, zone] = args
    if (zone && first.type === 'timestamp') return callFunction(name, 'timestamp', [this.#lowerLocalTime(first, zone)])
    return callFunction(
      name,
      first.type as string,
      args.map((arg) => this.lower(arg)),
    )
  }

  #lowerLocalTime(instant: Expression, zone: Expression): Value {
    const name = zone.node === 'literal' ? String(zone.value) : this.scope.timezone
    return name === null ? failingValue(sql`null`) : toLocalTime(this.lower(instant), name, this.scope.now)
  }

  #lowerDayOfEdition(instant: Expression): Value {
    const { timezone, now } = this.scope
    if (timezone === null) return failingValue(sql`null`)
    const start = toLocalTime(lowerEditionField('start_date', this.scope), timezone, now)
    return countDaysBetween(start, toLocalTime(this.lower(instant), timezone, now))
  }

  #lowerInteger(json: Json): Value {
    const number = convert(convertJson(json, 'double'), 'double', 'int')
    const text = convert(convertJson(json, 'string'), 'string', 'int')
    return failingValue(sql`case ${json.type} when 'text' then ${text.sql} else ${number.sql} end`)
  }
}

function requireField<T>(column: T | undefined): T {
  if (column === undefined) throw new Error('this field has no column')
  return column
}
