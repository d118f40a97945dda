export { type MessageBrief, sendableBy, sendableMessage } from './queries.ts'
export { templateOf } from './templates.ts'
