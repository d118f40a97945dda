export { presentUser } from './present.ts'
export { findUser, type LoadedUser, userVisibility } from './queries.ts'
export { customerOrdersSearch } from './update.ts'
