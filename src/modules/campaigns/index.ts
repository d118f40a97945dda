export { findAuthorizedCampaign } from './checks.ts'
export { advanceAudience, type AudienceProgress } from './delivery/audience-steps.ts'
export {
  type RequestedRun,
  startAndReadRequestedRun,
  selectCampaignWaits,
  selectRunningWork,
  selectScheduledWork,
} from './delivery/due.ts'
export { eraseInCampaignConditions } from './erase-conditions.ts'
export { enqueueConsumers } from './delivery/enqueue.ts'
export { combineEngagement, projectEngagement, projectSnapshot } from './delivery/projection.ts'
export { presentCampaign } from './present.ts'
export type { LoadedCampaign } from './queries.ts'
export { createTestComposer } from './test-content.ts'
