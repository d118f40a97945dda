import type { CampaignSenders } from '../domain/campaign-sender.ts'
import type { Bindings } from '../http/env.ts'

/** The objects of campaigns, by the ids of these. */
export const sendersOf = (env: Bindings): CampaignSenders => ({
  of: (campaignId) => env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(campaignId)),
})
