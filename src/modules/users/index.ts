export { presentUser } from './present.ts'
export { findUser, type LoadedUser, userStanding } from './queries.ts'
export { type ChannelAddress, hashedAddresses, restoredSuppressions } from './suppression-hashes.ts'
export { customerOrdersSearch } from './update.ts'
