export { audienceOf, membersOf } from './audience.ts'
export {
  type CampaignRow,
  messageJoin,
  project,
  projection,
  projectReceipts,
  readCampaign,
  readinessOf,
  startDue,
  surroundingColumns,
  surroundingJoins,
  type Surroundings,
} from './campaign.ts'
export { drawContent, hasSender } from './content.ts'
export { ringCampaign } from './ring.ts'
