export { cancelRefundsOf } from './cancel.ts'
