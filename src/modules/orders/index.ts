export { orderVisibility } from './scope.ts'
export { containsText } from './search.ts'
