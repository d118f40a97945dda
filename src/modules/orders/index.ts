export { countTogether } from './counts/count-together.ts'
export { containsText, orderVisibility } from './list.ts'
export { type FoundRequest, judgeOf, readFewOrders } from './found.ts'
export { searchOfOrders } from './search.ts'
