export { buildUserEvent, compareContacts, type UserField } from './announcement.ts'
export { findEditionCustomers } from './list.ts'
export { presentUser } from './present.ts'
export { findUser, type LoadedUser, userVisibility } from './queries.ts'
