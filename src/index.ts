import { env } from 'cloudflare:workers'
import { app, type Bindings } from './app.ts'
import { loadClock, openStorage } from './entry/clock.ts'
import { openCurrentJob, openJob } from './entry/job.ts'
import { continueInBackground, queue } from './entry/queue.ts'
import { scheduled } from './entry/scheduled.ts'
import { checkStart, createStartReport } from './entry/start.ts'
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

const withReport = createStartReport()

export default {
  fetch: withReport(app.fetch),
  queue: withReport(queue),
  scheduled: withReport(scheduled),
} satisfies ExportedHandler<Bindings>
