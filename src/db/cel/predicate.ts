import { type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { Expression } from '../../domain/cel/index.ts'
import { AppError } from '../../domain/errors.ts'
import { readJson } from '../../domain/text/json.ts'
import type { ExpressionScope } from './columns.ts'
import { Lowering } from './lowering.ts'
import { Constants } from './values.ts'

/** More parameters than this are bound as one, so that the caller can add its own: D1 allows a hundred. */
const maxParameters = 40
/** D1 accepts statements of 100 kB, and the caller adds to this one. */
const maxLength = 80_000

const dialect = new SQLiteSyncDialect()

/** Lowers with bound parameters, and again with all of them in one when they are many. */
function lowered(scope: ExpressionScope, lower: (lowering: Lowering) => SQL): SQL {
  const expression = around(new Lowering(scope, new Constants(false)), lower)
  const { params, sql: text } = dialect.sqlToQuery(expression)
  if (text.length > maxLength)
    throw new AppError('validation_error', 'The expression is too complex: make two segments of it.')
  if (params.length <= maxParameters) return expression
  return around(new Lowering(scope, new Constants(true)), lower)
}

const around = (lowering: Lowering, lower: (lowering: Lowering) => SQL): SQL => lowering.around(lower(lowering))

/** The value of an expression of any type for a row of `users u`; NULL is an error, or null. */
export const valueOf = (expression: Expression, scope: ExpressionScope): SQL =>
  lowered(scope, (lowering) => lowering.value(expression).sql)

/** Holds for the rows of `users u` that belong to the segment; 0 or NULL for the others. */
export const predicateOf = (expression: Expression, scope: ExpressionScope): SQL =>
  sql`(${lowered(scope, (lowering) => lowering.value(expression, true).sql)})`

/** True, false, or null for an error. */
export type Truth = boolean | null

export interface Explanation {
  /** Selects one row for this person, or none for a person of another organisation. */
  statement: SQL<{ truths: string }>
  /** Conditions in the order of the source; a condition comes before those inside it. */
  parts: { start: number; end: number; text: string }[]
  /** The value of each part for the person of the row. */
  truthsOf: (row: { truths: string }) => Truth[]
}

/** SQL functions take 32 arguments in D1, and the values are in lists of lists. */
const listLength = 30

/** Which conditions of the expression hold for one person; conditions about elements of lists count as a whole. */
export function explanationOf(
  expression: Expression,
  scope: ExpressionScope,
  source: string,
  userId: string,
): Explanation {
  const nodes = conditionsOf(expression)
  const facts = nodes.filter((node) => !isConnective(node))
  const statement = lowered(scope, (lowering) => {
    const values = facts.map((fact) => lowering.value(fact).sql)
    const lists = Array.from({ length: Math.ceil(values.length / listLength) }, (_, index) => {
      const list = values.slice(index * listLength, (index + 1) * listLength)
      return sql`json_array(${sql.join(list, sql`, `)})`
    })
    return sql`json_array(${sql.join(lists, sql`, `)})`
  })
  return {
    statement: sql`select ${statement} as truths from users u
      where u.id = ${userId} and u.organization_id = ${scope.organizationId}`,
    parts: nodes.map(({ start, end }) => ({ start, end, text: source.slice(start, end) })),
    truthsOf: ({ truths }) => {
      const values = readJson(truths, isTruths).flat()
      const known = new Map(facts.map((fact, index) => [fact, truthOf(values[index])]))
      const truth = (node: Expression): Truth => known.get(node) ?? connected(node, truth)
      return nodes.map((node) => (known.has(node) ? (known.get(node) ?? null) : truth(node)))
    },
  }
}

const isTruths = (value: unknown): value is (0 | 1 | null)[][] =>
  Array.isArray(value) && value.flat().every((one) => one === 0 || one === 1 || one === null)

const truthOf = (value: 0 | 1 | null | undefined): Truth => (value === null || value === undefined ? null : value === 1)

const isConnective = (node: Expression): boolean =>
  node.node === 'and' ||
  node.node === 'or' ||
  node.node === 'not' ||
  (node.node === 'choice' && [node.chosen, node.otherwise].every(({ type }) => type === 'bool'))

function operandsOf(node: Expression): Expression[] {
  if (!isConnective(node)) return []
  if (node.node === 'and' || node.node === 'or') return node.operands
  if (node.node === 'not') return [node.operand]
  return node.node === 'choice' ? [node.condition, node.chosen, node.otherwise] : []
}

const conditionsOf = (node: Expression): Expression[] => [node, ...operandsOf(node).flatMap(conditionsOf)]

/** The truth of a connective by its operands. An error counts only if the other operand does not decide. */
function connected(node: Expression, truth: (operand: Expression) => Truth): Truth {
  if (node.node === 'and' || node.node === 'or') {
    const decisive = node.node === 'or'
    const truths = node.operands.map(truth)
    if (truths.includes(decisive)) return decisive
    return truths.includes(null) ? null : !decisive
  }
  if (node.node === 'not') {
    const value = truth(node.operand)
    return value === null ? null : !value
  }
  if (node.node !== 'choice') return null
  const test = truth(node.condition)
  return test === null ? null : truth(test ? node.chosen : node.otherwise)
}
