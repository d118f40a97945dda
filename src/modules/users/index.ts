export { findUser } from './queries.ts'
export { customerOrdersSearch } from './update.ts'
