export { checkUser, normalizeUserPhone } from './check.ts'
export { ImportedUserSchema, parseImportedUser } from './contract.ts'
export { planUsers, type UserChange, type UserEntry, type UserOutcome, type UserPlan, type UserRun } from './plan.ts'
