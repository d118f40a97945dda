import { type SQL, sql } from 'drizzle-orm'
import type { Expression, Type } from '../../domain/cel/index.ts'
import type { ExpressionOf } from '../../domain/cel/types.ts'
import { type BoundScope, hasProductName, isBoughtByPerson, isReceivedByPerson } from './columns.ts'
import { compareJson, isJsonList, type Json, readJsonElement } from './json.ts'
import { filterRows, type ListLowering, lowerAll, lowerExists, lowerExistsOne, mapRows, type Rows } from './rows.ts'
import { buildOk, castForComparison, compareValues, guardValue, plainValue, type Value } from './values.ts'

const buildRows = (from: SQL, where: SQL[], element: Rows['element']): Rows => ({
  from,
  where,
  element,
  filter: null,
  guard: null,
})

/** `JSON.stringify` does not take a bigint. */
const formatJson = (items: ExpressionOf<'list'>['items']): string =>
  `[${items.map(({ value }) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))).join()}]`

export function lowerList(lowering: ListLowering, list: Expression): Rows {
  const { scope } = lowering
  if (list.type === 'json') {
    const json = lowering.lowerJson(list)
    const alias = scope.alias('j')
    const rows = buildRows(sql`${json.each} ${alias}`, [], { json: readJsonElement(alias, scope.text) })
    return { ...rows, guard: isJsonList(json) }
  }
  switch (list.node) {
    case 'variable': {
      lowering.noteUnlimitedList()
      const isOrders = list.name === 'orders'
      const row = scope.alias(isOrders ? 'o' : 'p')
      const table = sql.raw(isOrders ? 'orders' : 'purchases')
      return buildRows(sql`${table} ${row}`, [isBoughtByPerson(row, scope)], { row })
    }
    case 'field': {
      if (list.object.type === 'campaigns') return lowerEngagement(lowering, list.name)
      if (list.object.node !== 'variable') throw new Error(`${list.name} is not a list`)
      return requireList(elementLists[list.name])(lowering.findRow(list.object.name), scope)
    }
    case 'list': {
      lowering.noteUnlimitedList()
      const alias = scope.alias('j')
      const value = list.items[0]?.type === 'double' ? sql`cast(${alias}.value as real)` : sql`${alias}.value`
      return buildRows(sql`json_each(${scope.text(formatJson(list.items))}) ${alias}`, [], { value: plainValue(value) })
    }
    case 'macro':
      return lowerFilterOrMap(lowering, list)
    default:
      throw new Error(`${list.node} is not a list`)
  }
}

const requireList = <T>(list: T | undefined): T => {
  if (list === undefined) throw new Error('this field is not a list')
  return list
}

/** The lists of an element, such as the options of a purchase. */
const elementLists: Record<string, (row: SQL, scope: BoundScope) => Rows> = {
  option_ids: (purchase, scope) => {
    const alias = scope.alias('j')
    const id = sql`json_extract(${alias}.value, '$.api_id')`
    return buildRows(sql`json_each(${purchase}.options) ${alias}`, [], { value: plainValue(id) })
  },
  uses: (purchase, scope) => {
    const row = scope.alias('t')
    return buildRows(
      sql`purchase_uses ${row}`,
      [sql`${row}.purchase_id = ${purchase}.id and ${row}.reverted_at is null`],
      { row },
    )
  },
  clicked_links: (message, scope) => {
    const [alias, link] = [scope.alias('j'), scope.alias('l')]
    return buildRows(
      sql`json_each(${message}.clicked_links) ${alias} cross join campaign_links ${link}
        on ${link}.campaign_id = ${message}.campaign_id and ${link}.position = ${alias}.value`,
      [],
      { value: plainValue(sql`${link}.url`) },
    )
  },
}

const engagementColumns: Record<string, string> = {
  received: 'received_at',
  opened: 'opened_at',
  clicked: 'clicked_at',
}

function lowerEngagement(lowering: ListLowering, name: string): Rows {
  lowering.noteUnlimitedList()
  const { scope } = lowering
  const row = scope.alias('r')
  if (name === 'messages') return buildRows(sql`campaign_receipts ${row}`, [isReceivedByPerson(row, scope)], { row })
  const column = sql.raw(engagementColumns[name] ?? 'received_at')
  return buildRows(sql`campaign_receipts ${row}`, [isReceivedByPerson(row, scope), sql`${row}.${column} is not null`], {
    value: plainValue(sql`${row}.campaign_id`),
  })
}

function lowerFilterOrMap(lowering: ListLowering, { range, variable, predicate, result }: ExpressionOf<'macro'>): Rows {
  const source = lowerList(lowering, range)
  return lowering.withVariable(variable, source.element, () => {
    const rows = predicate ? filterRows(source, lowering.lower(predicate)) : source
    return result ? mapRows(rows, lowering.lower(result), lowering.scope.alias('m')) : rows
  })
}

export function lowerMacro(lowering: ListLowering, expression: ExpressionOf<'macro'>, errorIsFalse: boolean): Value {
  const { range, variable, predicate } = expression
  if (!predicate) throw new Error('a macro without a condition is a list')
  const source = lowerList(lowering, range)
  const conditionErrorIsFalse = errorIsFalse && expression.macro !== 'exists_one' && !source.filter?.fails
  const condition = lowering.withVariable(variable, source.element, () =>
    lowering.lower(predicate, conditionErrorIsFalse),
  )
  if (expression.macro === 'exists') return lowerExists(source, condition, errorIsFalse)
  if (expression.macro === 'all') return lowerAll(source, condition, errorIsFalse)
  return lowerExistsOne(source, condition)
}

export function lowerIn(lowering: ListLowering, { element, list }: ExpressionOf<'in'>, errorIsFalse: boolean): Value {
  const elementType = typeof list.type === 'object' ? list.type.list : 'json'
  if (list.node === 'list' && element.type !== 'json') return lowerInLiterals(lowering, element, list, elementType)
  const source = lowerList(lowering, list)
  if (element.type === 'json') return lowerMetadataIn(source, lowering.lowerJson(element), elementType, errorIsFalse)
  const value = castForComparison(lowering.lower(element), element.type, elementType)
  const valueOnly: Value = { sql: value.sql, nullable: value.nullable, fails: false }
  const isEqual =
    'json' in source.element
      ? plainValue(compareJson(source.element.json, valueOnly, element.type).sql)
      : compareValues(castForComparison(readElementValue(source), elementType, element.type), valueOnly)
  const contains = lowerExists(source, isEqual, errorIsFalse)
  // Null can be an element of an array, but not a key of an object.
  const canContain =
    list.type === 'json' && value.nullable
      ? sql`(${value.sql} is not null or ${lowering.lowerJson(list).type} = 'array')`
      : null
  return {
    ...contains,
    sql: guardValue([buildOk(value), canContain], contains.sql),
    fails: contains.fails || value.fails,
  }
}

function readElementValue(source: Rows): Value {
  if (!('value' in source.element)) throw new Error('the elements of this list are not values')
  return source.element.value
}

function lowerInLiterals(
  lowering: ListLowering,
  element: Expression,
  list: ExpressionOf<'list'>,
  elementType: Type,
): Value {
  const value = castForComparison(lowering.lower(element), element.type, elementType)
  const item = element.type === 'double' ? sql`cast(value as real)` : sql`value`
  const isListed = (operand: SQL) =>
    sql`${operand} in (select ${item} from json_each(${lowering.scope.text(formatJson(list.items))}))`
  const purchase = lowering.findPurchaseOfProductName(element)
  if (purchase) return hasProductName(purchase, isListed, lowering.scope)
  const contains = isListed(value.sql)
  const { nullable, fails } = value
  // In SQLite `null in ()` is 0, so an error of the element would get lost.
  if (!nullable && list.items.length) return { sql: sql`(${contains})`, nullable: false, fails }
  return { sql: guardValue([buildOk(value)], sql`coalesce(${contains}, 0)`), nullable: false, fails }
}

function lowerMetadataIn(source: Rows, json: Json, elementType: Type, errorIsFalse: boolean): Value {
  const value = castForComparison(readElementValue(source), elementType, 'json')
  const contains = lowerExists(source, plainValue(compareJson(json, value, elementType).sql), errorIsFalse)
  return { ...contains, sql: guardValue([sql`${json.type} is not null`], contains.sql), fails: true }
}
