import { type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { Expression } from '../../domain/cel/index.ts'
import { AppError } from '../../domain/errors.ts'
import { readJson } from '../../domain/text/json.ts'
import type { ExpressionScope } from './columns.ts'
import { Lowering } from './lowering.ts'
import { Constants } from './values.ts'

/** D1 allows 100 parameters, and the caller adds its own. */
const maxParameters = 40
/** D1 allows statements of 100 kB, and the caller adds to this one. */
const maxLength = 80_000

const dialect = new SQLiteSyncDialect()

/**
 * Lowers to SQL that fits the limits of D1: each constant is a parameter, or all of them are one when there are too many.
 * Throws `validation_error` when the SQL is too long.
 */
function lowerWithinLimits(scope: ExpressionScope, lower: (lowering: Lowering) => SQL): SQL {
  const lowerWith = (constants: Constants) => {
    const lowering = new Lowering(scope, constants)
    return lowering.wrap(lower(lowering))
  }
  const withParameters = lowerWith(new Constants(false))
  const { params } = dialect.sqlToQuery(withParameters)
  const expression = params.length <= maxParameters ? withParameters : lowerWith(new Constants(true))
  if (dialect.sqlToQuery(expression).sql.length > maxLength)
    throw new AppError('validation_error', 'The expression is too complex. Split it into two segments.')
  return expression
}

/** The value of an expression of any type for a row of `users u`. SQL NULL stands for an error or for null in CEL. */
export const buildValue = (expression: Expression, scope: ExpressionScope): SQL =>
  lowerWithinLimits(scope, (lowering) => lowering.lower(expression).sql)

/** Holds for the rows of `users u` that belong to the segment, and is 0 or NULL for others. */
export const buildPredicate = (expression: Expression, scope: ExpressionScope): SQL =>
  lowerWithinLimits(scope, (lowering) => lowering.lower(expression, true).sql)

/** True, false, or null for an error. */
export type Truth = boolean | null

export interface Explanation {
  /** Selects one row for the person, or none for a person of another organisation. */
  statement: SQL<{ truths: string | null }>
  /** The conditions in the order of the source. A condition comes before those inside it. */
  parts: { start: number; end: number; text: string }[]
  /** The value of each part. */
  readTruths: (row: { truths: string | null }) => Truth[]
}

/** D1 allows 32 arguments of a function, so the values are in lists of lists. */
const listLength = 30

/** Evaluates each condition for one person. A condition about the elements of a list is one part. */
export function buildExplanation(
  expression: Expression,
  scope: ExpressionScope,
  source: string,
  userId: string,
): Explanation {
  const conditions = listConditions(expression)
  const leafConditions = conditions.filter((node) => !isConnective(node))
  const statement = lowerWithinLimits(scope, (lowering) => {
    const values = leafConditions.map((leaf) => lowering.lower(leaf).sql)
    const lists = Array.from({ length: Math.ceil(values.length / listLength) }, (_, index) => {
      const list = values.slice(index * listLength, (index + 1) * listLength)
      return sql`json_array(${sql.join(list, sql`, `)})`
    })
    return sql`json_array(${sql.join(lists, sql`, `)})`
  })
  return {
    statement: sql`select ${statement} as truths from users u
      where u.id = ${userId} and u.organization_id = ${scope.organizationId}`,
    parts: conditions.map(({ start, end }) => ({ start, end, text: source.slice(start, end) })),
    readTruths: ({ truths }) => {
      const values = readJson(truths ?? '[]', isTruths).flat()
      const truthOfLeaf = new Map(leafConditions.map((leaf, index) => [leaf, readTruth(values[index])]))
      const findTruth = (node: Expression): Truth => truthOfLeaf.get(node) ?? combineTruths(node, findTruth)
      return conditions.map((node) => (truthOfLeaf.has(node) ? (truthOfLeaf.get(node) ?? null) : findTruth(node)))
    },
  }
}

const isTruths = (value: unknown): value is (0 | 1 | null)[][] =>
  Array.isArray(value) && value.flat().every((truth) => truth === 0 || truth === 1 || truth === null)

const readTruth = (value: 0 | 1 | null | undefined): Truth =>
  value === null || value === undefined ? null : value === 1

const isConnective = (node: Expression): boolean =>
  node.node === 'and' ||
  node.node === 'or' ||
  node.node === 'not' ||
  (node.node === 'choice' && [node.consequence, node.otherwise].every(({ type }) => type === 'bool'))

function listBranches(node: Expression): Expression[] {
  if (!isConnective(node)) return []
  if (node.node === 'and' || node.node === 'or') return node.operands
  if (node.node === 'not') return [node.operand]
  return node.node === 'choice' ? [node.condition, node.consequence, node.otherwise] : []
}

const listConditions = (node: Expression): Expression[] => [node, ...listBranches(node).flatMap(listConditions)]

/** As in CEL, an error of an operand counts only if no other operand decides. */
function combineTruths(node: Expression, findTruth: (operand: Expression) => Truth): Truth {
  if (node.node === 'and' || node.node === 'or') {
    const decisive = node.node === 'or'
    const truths = node.operands.map(findTruth)
    if (truths.includes(decisive)) return decisive
    return truths.includes(null) ? null : !decisive
  }
  if (node.node === 'not') {
    const value = findTruth(node.operand)
    return value === null ? null : !value
  }
  if (node.node !== 'choice') return null
  const test = findTruth(node.condition)
  return test === null ? null : findTruth(test ? node.consequence : node.otherwise)
}
