export { checkExternalOrder } from './external-order-contract.ts'
