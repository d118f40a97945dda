export { containsText, orderVisibility } from './list.ts'
