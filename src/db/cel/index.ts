export type { ExpressionScope } from './columns.ts'
export { type Explanation, explanationOf, predicateOf, type Truth, valueOf } from './predicate.ts'
