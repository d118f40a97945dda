export { buildSignupSection, eraseSignups, isSignupEmail } from './personal-data.ts'
