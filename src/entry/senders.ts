import type { CampaignSenders } from '../domain/campaigns/sender.ts'
import type { WebhookSenders } from '../domain/webhooks/webhook-sender.ts'
import type { Bindings } from '../http/env.ts'

/** The objects of campaigns, by the ids of the campaigns. */
export const sendersOf = (env: Bindings): CampaignSenders => ({
  of: (campaignId) => env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(campaignId)),
})

/** The objects that post webhooks. They store nothing and end with their last post. */
export const webhookSendersOf = (env: Bindings): WebhookSenders => ({
  create: () => env.WEBHOOK_SENDER.get(env.WEBHOOK_SENDER.newUniqueId()),
})
