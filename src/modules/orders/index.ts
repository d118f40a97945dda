export { versionOfOrders } from './counts/count-orders.ts'
export { countTogether } from './counts/count-together.ts'
export { containsText, orderVisibility } from './list.ts'
