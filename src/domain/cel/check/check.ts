import { describeType, suggestCondition } from '../messages.ts'
import { parseExpression } from '../parse.ts'
import { buildError, type CelError, type Expression, Refusal } from '../types.ts'
import { Checker, type KnownLiteral } from './checker.ts'

export type CheckedExpression =
  | { ok: true; expression: Expression; isTimeDependent: boolean; literals: KnownLiteral[] }
  | { ok: false; errors: CelError[] }

/** Parses and checks an expression of any type. */
export function checkTypes(source: string): CheckedExpression {
  const refusals: Refusal[] = []
  try {
    const parseResult = parseExpression(source)
    const checker = new Checker(parseResult, refusals)
    const expression = checker.check(parseResult.ast)
    if (!refusals.length)
      return { ok: true, expression, isTimeDependent: checker.isTimeDependent, literals: checker.literals }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refusals.push(error)
  }
  const errors = refusals.map(({ code, message, range }) => buildError(source, code, message, range))
  return { ok: false, errors: errors.toSorted((one, other) => one.start - other.start) }
}

/** Parses and checks the expression of a segment, which must be true or false. */
export function checkExpression(source: string): CheckedExpression {
  const checkResult = checkTypes(source)
  if (!checkResult.ok || checkResult.expression.type === 'bool') return checkResult
  const { expression } = checkResult
  const suggestion = suggestCondition({ expression, text: source.trim() })
  const message = `The expression must be true or false, and it is ${describeType(expression.type)}.${suggestion}`
  return { ok: false, errors: [buildError(source, 'not_boolean', message, { start: 0, end: source.length })] }
}
