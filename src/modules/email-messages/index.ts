export { copiesOf } from './copies.ts'
export { type MessageBrief, sendableBy, sendableMessage } from './queries.ts'
export { templateOf } from './templates.ts'
