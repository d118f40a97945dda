export { customerOrdersSearch } from './update.ts'
