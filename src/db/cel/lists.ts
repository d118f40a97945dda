import { type SQL, sql } from 'drizzle-orm'
import type { Expression, Type } from '../../domain/cel/index.ts'
import { boughtBy, isOfProductNamed, receivedBy } from './columns.ts'
import type { ExpressionLowering } from './expression-lowering.ts'
import { isListOf, type Json, jsonElement, jsonEquals } from './json.ts'
import { allIn, existsIn, existsOneIn, kept, mapped, type Rows } from './rows.ts'
import { besides, equals, guarded, okOf, total, type Value } from './values.ts'
import type { ExpressionOf } from '../../domain/cel/types.ts'

const rows = (from: SQL, where: SQL[], element: Rows['element']): Rows => ({
  from,
  where,
  element,
  keep: null,
  guard: null,
})

/** A literal list as JSON: integers keep all their digits. */
const jsonOf = (items: ExpressionOf<'list'>['items']): string =>
  `[${items.map(({ value }) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))).join()}]`

export function rowsOf(lowering: ExpressionLowering, list: Expression): Rows {
  const { bound } = lowering
  if (list.type === 'json') {
    const json = lowering.json(list)
    const alias = bound.alias('j')
    return { ...rows(sql`${json.each} ${alias}`, [], { json: jsonElement(alias, bound.text) }), guard: isListOf(json) }
  }
  switch (list.node) {
    case 'variable': {
      const row = bound.alias(list.name === 'orders' ? 'o' : 'p')
      return rows(sql`${sql.raw(list.name === 'orders' ? 'orders' : 'purchases')} ${row}`, [boughtBy(row, bound)], {
        row,
      })
    }
    case 'field': {
      if (list.object.type === 'campaigns') return receipts(lowering, list.name)
      if (list.object.node !== 'variable') throw new Error(`no list: ${list.name}`)
      const alias = bound.alias('j')
      const id = sql`json_extract(${alias}.value, '$.api_id')`
      return rows(sql`json_each(${lowering.row(list.object.name)}.options) ${alias}`, [], { value: total(id) })
    }
    case 'list': {
      const alias = bound.alias('j')
      const value = list.items[0]?.type === 'double' ? sql`cast(${alias}.value as real)` : sql`${alias}.value`
      return rows(sql`json_each(${bound.text(jsonOf(list.items))}) ${alias}`, [], { value: total(value) })
    }
    case 'macro':
      return made(lowering, list)
    default:
      throw new Error(`no list: ${list.node}`)
  }
}

const stamps: Record<string, string> = { received: 'received_at', opened: 'opened_at', clicked: 'clicked_at' }

function receipts({ bound }: ExpressionLowering, name: string): Rows {
  const row = bound.alias('r')
  const stamp = sql.raw(stamps[name] ?? 'received_at')
  return rows(sql`campaign_receipts ${row}`, [receivedBy(row, bound), sql`${row}.${stamp} is not null`], {
    value: total(sql`${row}.campaign_id`),
  })
}

/** The list that filter or map makes. */
function made(lowering: ExpressionLowering, { range, variable, predicate, result }: ExpressionOf<'macro'>): Rows {
  const source = rowsOf(lowering, range)
  return lowering.with(variable, source.element, () => {
    const some = predicate ? kept(source, lowering.value(predicate)) : source
    return result ? mapped(some, lowering.value(result), lowering.bound.alias('m')) : some
  })
}

export function macro(lowering: ExpressionLowering, expression: ExpressionOf<'macro'>, positive: boolean): Value {
  const { range, variable, predicate } = expression
  if (!predicate) throw new Error('a macro without a condition is a list')
  const source = rowsOf(lowering, range)
  const isLoose = positive && expression.macro !== 'exists_one' && !source.keep?.fails
  const condition = lowering.with(variable, source.element, () => lowering.value(predicate, isLoose))
  if (expression.macro === 'exists') return existsIn(source, condition, positive)
  if (expression.macro === 'all') return allIn(source, condition, positive)
  return existsOneIn(source, condition)
}

export function contains(
  lowering: ExpressionLowering,
  { element, list }: ExpressionOf<'in'>,
  positive: boolean,
): Value {
  const of = typeof list.type === 'object' ? list.type.list : 'json'
  if (list.node === 'list' && element.type !== 'json') return listed(lowering, element, list, of)
  const source = rowsOf(lowering, list)
  if (element.type === 'json') return jsonIn(source, lowering.json(element), of, positive)
  const value = besides(lowering.value(element), element.type, of)
  const sure: Value = { sql: value.sql, nullable: value.nullable, fails: false }
  const same =
    'json' in source.element
      ? total(jsonEquals(source.element.json, sure, element.type).sql)
      : equals(besides(valueIn(source), of, element.type), sure)
  const found = existsIn(source, same, positive)
  // Null can be an element of an array, and is no key of an object.
  const isPossible =
    list.type === 'json' && value.nullable
      ? sql`(${value.sql} is not null or ${lowering.json(list).type} = 'array')`
      : null
  return { ...found, sql: guarded([okOf(value), isPossible], found.sql), fails: found.fails || value.fails }
}

function valueIn(source: Rows): Value {
  if (!('value' in source.element)) throw new Error('no list of values')
  return source.element.value
}

/** Whether a value is in a literal list; null is in none. */
function listed(lowering: ExpressionLowering, element: Expression, list: ExpressionOf<'list'>, of: Type): Value {
  const value = besides(lowering.value(element), element.type, of)
  const each = element.type === 'double' ? sql`cast(value as real)` : sql`value`
  const isWritten = (item: SQL) =>
    sql`${item} in (select ${each} from json_each(${lowering.bound.text(jsonOf(list.items))}))`
  const purchase = lowering.purchaseNamed(element)
  if (purchase) return isOfProductNamed(purchase, isWritten, lowering.bound)
  const found = isWritten(value.sql)
  const { nullable, fails } = value
  // SQLite finds nothing in an empty list, not even an error.
  if (!nullable && list.items.length) return { sql: sql`(${found})`, nullable: false, fails }
  return { sql: guarded([okOf(value)], sql`coalesce(${found}, 0)`), nullable: false, fails }
}

/** Whether a value of metadata is in a list of simple values. */
function jsonIn(source: Rows, json: Json, of: Type, positive: boolean): Value {
  const same = total(jsonEquals(json, besides(valueIn(source), of, 'json'), of).sql)
  const found = existsIn(source, same, positive)
  return { ...found, sql: guarded([sql`${json.type} is not null`], found.sql), fails: true }
}
