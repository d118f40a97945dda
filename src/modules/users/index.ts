export { presentUser } from './present.ts'
export { userVisibility } from './visibility.ts'
export { findUser, type LoadedUser } from './queries.ts'
