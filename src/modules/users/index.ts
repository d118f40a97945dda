export { presentUser } from './present.ts'
export { userVisibility } from './conditions.ts'
export { findUser, type LoadedUser } from './queries.ts'
