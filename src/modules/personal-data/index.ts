export { selectErasureWork } from './queries.ts'
