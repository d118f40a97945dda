export type { ExpressionScope } from './columns.ts'
export { selectMatchingPeople } from './people.ts'
export { buildExplanation, buildPredicate, buildValue, type Explanation, type Truth } from './predicate.ts'
