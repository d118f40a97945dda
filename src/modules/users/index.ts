export { userStanding } from './queries.ts'
export { customerOrdersSearch } from './update.ts'
