export { sendableMessage } from './queries.ts'
export { templateOf } from './templates.ts'
