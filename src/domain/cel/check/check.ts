import { Checker, type KnownLiteral } from './checker.ts'
import { heavyList } from '../cost.ts'
import { parse, SyntaxRefusal } from '../parse.ts'
import { conditionHint } from './type-hints.ts'
import { type CelError, errorAt, type Expression, Refusal } from '../types.ts'
import { wordsOf } from '../mistakes/words.ts'

export type CheckedExpression =
  | { ok: true; expression: Expression; isTimeDependent: boolean; literals: KnownLiteral[] }
  | { ok: false; errors: CelError[] }

/** Parses and types an expression of any type. */
export function typedExpression(source: string): CheckedExpression {
  const refusals: Refusal[] = []
  try {
    const parsed = parse(source)
    const checker = new Checker(parsed, refusals)
    const expression = checker.check(parsed.ast)
    if (!refusals.length)
      return { ok: true, expression, isTimeDependent: checker.isTimeDependent, literals: checker.literals }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refusals.push(...(error instanceof SyntaxRefusal ? error.all : [error]))
  }
  const errors = refusals.map(({ code, message, range }) => errorAt(source, code, message, range))
  return { ok: false, errors: errors.toSorted((one, other) => one.start - other.start) }
}

/** An expression that decides who belongs to a segment: it has to be true or false. */
export function checkExpression(source: string): CheckedExpression {
  const checked = typedExpression(source)
  if (!checked.ok) return checked
  const heavy = heavyList(checked.expression)
  if (heavy) {
    const message = 'The conditions that each element of a list is asked for are too many: make two segments of it.'
    return { ok: false, errors: [errorAt(source, 'limit_exceeded', message, heavy)] }
  }
  if (checked.expression.type === 'bool') return checked
  const hint = conditionHint({ expression: checked.expression, text: source.trim() })
  const message = `A segment needs an expression that is true or false, and this is ${wordsOf(checked.expression.type)}.${hint}`
  return { ok: false, errors: [errorAt(source, 'not_boolean', message, { start: 0, end: source.length })] }
}
