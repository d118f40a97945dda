export { countTogether } from './counts/count-together.ts'
export { containsText, orderVisibility } from './list.ts'
