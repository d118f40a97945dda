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

/** What an expression may speak of: the one list that the checker, the SQL and the API's description share. */
export const context = { variables, functions, examples }
