export { chooseOrderScope, type OrderScope, orderVisibility } from './scope.ts'
export { buildTextCondition, findOrdersByText } from './search.ts'
