import { variables } from './catalogue.ts'
import { examples, functions } from './functions.ts'

export { type CheckedExpression, checkExpression, typedExpression } from './check/check.ts'
export type { KnownLiteral } from './check/checker.ts'
export { limits } from './parse.ts'
export {
  costError,
  hasLists,
  hasNestedLists,
  maxCombinations,
  meanWork,
  type MeanSizes,
  peopleAStatement,
} from './cost.ts'
export { type ListSizes, noLists } from './survey.ts'
export type { CelError, Expression, Type, ValuesFrom } from './types.ts'

/** The fields of expressions: the one list for the checker, the SQL and the API's description. */
export const context = { variables, functions, examples }
