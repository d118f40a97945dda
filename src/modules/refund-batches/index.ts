export { selectBatchWork } from './queries.ts'
