export { chooseListedOrders, type ListedOrders, orderVisibility } from './scope.ts'
export { containsText, findOrders } from './search.ts'
