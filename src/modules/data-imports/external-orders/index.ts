export { checkExternalOrder } from './external-order-contract.ts'
export { plainOrder } from './plain-order.ts'
