export { findOrder } from '../orders/index.ts'
export { findUser } from '../users/index.ts'
