export { findOrder, presentOrder } from '../orders/index.ts'
