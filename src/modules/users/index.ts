export { buildUserEvent, compareContacts, type UserField } from './announcement.ts'
export { User } from './contract.ts'
export { findCustomerCandidates, findEditionCustomers } from './list.ts'
export { type PresentedUser, presentUser } from './present.ts'
export {
  buildUserFields,
  type CustomerRow,
  describeMissingUser,
  findUser,
  listCampaignNumbers,
  type LoadedUser,
  userVisibility,
} from './queries.ts'
