import { env } from 'cloudflare:workers'
import { app, type Bindings } from './app.ts'
import { checkStart } from './entry/gateways.ts'
import { openJob } from './entry/job.ts'
import { continueInBackground, queue } from './entry/queue.ts'
import { scheduled } from './entry/scheduled.ts'
import { CampaignSenderObject } from './objects/campaign/campaign-sender.ts'
import { createWebhookSenderClass } from './objects/webhook-sender.ts'

checkStart(env)

export class CampaignSender extends CampaignSenderObject<Bindings> {
  constructor(state: DurableObjectState, bindings: Bindings) {
    super(state, bindings, openJob(bindings))
  }
}

export class WebhookSender extends createWebhookSenderClass<Bindings>(openJob, continueInBackground) {}

export default { fetch: app.fetch, queue, scheduled } satisfies ExportedHandler<Bindings>
