export { rememberMapping } from './history.ts'
export { canonicalOf, formatOf, originalOf } from './source.ts'
