import { variables } from './catalogue.ts'
import { examples, functions } from './functions.ts'

export { type CheckedExpression, checkExpression, checkTypes } from './check/check.ts'
export type { KnownLiteral } from './check/checker.ts'
export { listNullableUses, type NullableUse } from './missing-values.ts'
export { limits } from './parse.ts'
export type { CelError, Expression, Type, ValueKind } from './types.ts'

/** Everything that an expression can use: the answer of `getCelContext`, and what the checker and the SQL know. */
export const context = { variables, functions, examples }
