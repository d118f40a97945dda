export { selectMergeWork } from './products/move-orders.ts'
