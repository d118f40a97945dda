import { env } from 'cloudflare:workers'
import { app, type Bindings } from './app.ts'
import { loadClock, openStorage } from './entry/clock.ts'
import { checkStart } from './entry/gateways.ts'
import { openCurrentJob, openJob } from './entry/job.ts'
import { continueInBackground, queue } from './entry/queue.ts'
import { scheduled } from './entry/scheduled.ts'
import { CampaignSenderObject } from './objects/campaign/campaign-sender.ts'
import { createWebhookSenderClass } from './objects/webhook-sender.ts'

checkStart(env)

export class CampaignSender extends CampaignSenderObject<Bindings> {
  constructor(state: DurableObjectState, bindings: Bindings) {
    super(state, bindings, openJob(bindings), openStorage(state, bindings))
  }

  override async alarm(): Promise<void> {
    await loadClock(this.env)
    return super.alarm()
  }
}

export class WebhookSender extends createWebhookSenderClass<Bindings>(openCurrentJob, continueInBackground) {}

export default { fetch: app.fetch, queue, scheduled } satisfies ExportedHandler<Bindings>
