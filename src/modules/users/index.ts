export { presentUser } from './present.ts'
export { findUser, type LoadedUser, userStanding } from './queries.ts'
export { customerOrdersSearch } from './update.ts'
