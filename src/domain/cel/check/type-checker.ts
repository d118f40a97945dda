import type { Ast } from '../parse.ts'
import type { Operand } from './type-hints.ts'
import type { Expression, SourceRange, Scalar } from '../types.ts'

/** A call of a function, with what is before the dot. */
export interface Call<Receiver = Ast | null> {
  name: string
  receiver: Receiver
  args: readonly Ast[]
}

/** The part of the checker that the checks of calls, macros and operators need. */
export interface TypeChecker {
  /** Variables of the macros around, innermost last. */
  readonly elements: (Expression & { node: 'variable' })[]
  check: (ast: Ast) => Expression
  /** An operand that has to be true or false. */
  bool: (ast: Ast, code?: string) => Expression
  /** Metadata read as a type; anything else is left as it is. */
  as: (operand: Expression, type: Scalar) => Expression
  consent: (key: string, range: SourceRange) => Expression
  /** Keeps a literal that is compared with a field of known values. */
  note: (expression: Expression, literal: Expression) => void
  /** A checked part with its text, for messages. */
  operand: (expression: Expression, ast: Ast) => Operand
  rangeOf: (ast: SourceRange) => SourceRange
  textOf: (ast: SourceRange) => string
}
