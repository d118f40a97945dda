export { listFulfilledConditions } from './block-conditions.ts'
export { presentMessage } from './present.ts'
export { explainAdoption, findMessage, type MessageDetailRow } from './queries.ts'
export { loadTemplate } from './templates.ts'
