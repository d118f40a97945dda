export { containsText, orderStanding } from './list.ts'
