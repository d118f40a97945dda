export { findEditionCustomers } from './list.ts'
export { presentUser } from './present.ts'
export { findUser, type LoadedUser, userVisibility } from './queries.ts'
