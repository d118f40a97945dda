export { advanceAudience, type AudienceProgress } from './delivery/audience-steps.ts'
export {
  type RequestedRun,
  startAndReadRequestedRun,
  selectCampaignWaits,
  selectRunningWork,
  selectScheduledWork,
} from './delivery/due.ts'
export { enqueueConsumers } from './delivery/enqueue.ts'
export { combineEngagement, projectEngagement, projectSnapshot } from './delivery/projection.ts'
