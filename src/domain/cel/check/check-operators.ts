import { constantOf } from '../constants.ts'
import type { Ast } from '../parse.ts'
import type { TypeChecker } from './type-checker.ts'
import { incomparable, notCalculable, notInList } from './type-hints.ts'
import {
  type ArithmeticOperator,
  type ComparisonOperator,
  type Expression,
  isList,
  isScalar,
  nameOf,
  type SourceRange,
  Refusal,
  type Scalar,
  type Type,
} from '../types.ts'
import { capital, wordsOf } from '../mistakes/words.ts'

const isNumber = (type: Type): boolean => type === 'int' || type === 'double'
const comparable = (one: Type, other: Type): boolean => one === other || (isNumber(one) && isNumber(other))

export function checkMinus(checker: TypeChecker, ast: Ast, range: SourceRange): Expression {
  if (ast.op === 'value' && (typeof ast.args === 'bigint' || typeof ast.args === 'number'))
    return constantOf(ast.args, range, true)
  const operand = checker.as(checker.check(ast), 'double')
  if (!isNumber(operand.type))
    throw new Refusal('no_such_overload', `${capital(wordsOf(operand.type))} has no negative.`, range)
  return { node: 'minus', operand, type: operand.type, nullable: false, ...range }
}

/** Result of the operators on two different types, or of times. */
const mixed: Record<string, Scalar> = {
  'timestamp + duration': 'timestamp',
  'duration + timestamp': 'timestamp',
  'timestamp - duration': 'timestamp',
  'timestamp - timestamp': 'duration',
  'duration + duration': 'duration',
  'duration - duration': 'duration',
  'string + string': 'string',
}

function resultOf(operator: ArithmeticOperator, left: Type, right: Type): Scalar | undefined {
  if (left === 'int' && right === 'int') return 'int'
  if (left === 'double' && right === 'double' && operator !== '%') return 'double'
  return mixed[`${nameOf(left)} ${operator} ${nameOf(right)}`]
}

export function checkArithmetic(
  checker: TypeChecker,
  operator: ArithmeticOperator,
  [a, b]: readonly [Ast, Ast],
  range: SourceRange,
): Expression {
  let left = checker.check(a)
  let right = checker.check(b)
  const isReadable = (other: Type): other is Scalar => other === 'double' || other === 'string'
  if (isReadable(right.type)) left = checker.as(left, right.type)
  if (isReadable(left.type)) right = checker.as(right, left.type)
  const type = resultOf(operator, left.type, right.type)
  if (!type)
    throw new Refusal(
      'no_such_overload',
      notCalculable(operator, checker.operand(left, a), checker.operand(right, b)),
      range,
    )
  // SQLite has no infinity for a division by zero, so that the divisor has to be known.
  if (operator === '/' && type === 'double' && !(right.node === 'literal' && right.value !== 0))
    throw new Refusal('unsupported', 'Doubles can be divided by a number that is written out and not 0.', right)
  return { node: 'arithmetic', operator, left, right, type, nullable: false, ...range }
}

export function checkCompare(
  checker: TypeChecker,
  operator: ComparisonOperator,
  [a, b]: readonly [Ast, Ast],
  range: SourceRange,
): Expression {
  let left = checker.check(a)
  let right = checker.check(b)
  const isEquality = operator === '==' || operator === '!='
  const pair = [left, right]
  if (pair.every(({ type }) => type === 'json'))
    throw new Refusal('unsupported', 'Two values of metadata cannot be compared with each other.', range)
  const valid = pair.every((one) => isScalar(one.type) || one.type === 'json' || (isEquality && one.type === 'null'))
  const loose = pair.some(({ type }) => type === 'json' || type === 'null')
  if (!valid || (!loose && !comparable(left.type, right.type)))
    throw new Refusal(
      'no_such_overload',
      incomparable(operator, checker.operand(left, a), checker.operand(right, b)),
      range,
    )
  if (!isEquality) {
    left = checker.as(left, numeric(right.type))
    right = checker.as(right, numeric(left.type))
  }
  checker.note(left, right)
  checker.note(right, left)
  return { node: 'compare', operator, left, right, type: 'bool', nullable: false, ...range }
}

const numeric = (type: Type): Scalar => (type === 'int' ? 'double' : (type as Scalar))

export function checkIn(checker: TypeChecker, [a, b]: readonly [Ast, Ast], range: SourceRange): Expression {
  const element = checker.check(a)
  const list = checker.check(b)
  if (list.type === 'consents') {
    if (element.node !== 'literal' || typeof element.value !== 'string')
      throw new Refusal('unsupported', 'The key of a consent has to be written out.', element)
    checker.consent(element.value, element)
    return { node: 'has_consent', key: element.value, type: 'bool', nullable: false, ...range }
  }
  const of = isList(list.type) ? list.type.list : list.type
  const fits =
    (isScalar(element.type) && (of === 'json' || of === 'never' || comparable(element.type, of))) ||
    (element.type === 'json' && of !== 'json')
  if ((!isList(list.type) && of !== 'json') || !fits)
    throw new Refusal('no_such_overload', notInList(checker.operand(element, a), checker.operand(list, b)), range)
  if (list.node === 'list') for (const item of list.items) checker.note(element, item)
  checker.note(list, element)
  return { node: 'in', element, list, type: 'bool', nullable: false, ...range }
}
