export { rememberMapping } from '../columns/history.ts'
export { canonicalOf, canonicalPrefix, formatOf, originalOf } from './source.ts'
