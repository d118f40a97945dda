export { buildSignupSection, eraseSignups } from './personal-data.ts'
