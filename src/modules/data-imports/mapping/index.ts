export { rememberMapping } from './history.ts'
export { canonicalOf, canonicalPrefix, formatOf, originalOf } from './source.ts'
