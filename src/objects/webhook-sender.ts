import { DurableObject } from 'cloudflare:workers'
import type { JobCtx } from '../context.ts'
import type { DeliveryClaim, WebhookSenderRpc } from '../domain/webhooks/webhook-sender.ts'
import { deliverClaims } from '../modules/webhooks/index.ts'

/** Creates the class of the objects that post webhooks. They store nothing: claims and results are in the database. */
export const createWebhookSenderClass = <Bindings>(
  openJob: (env: Bindings) => Promise<JobCtx>,
  continueInBackground: (name: string, work: Promise<unknown>) => void,
) =>
  class extends DurableObject<Bindings> implements WebhookSenderRpc {
    async deliver(claims: readonly DeliveryClaim[]): Promise<void> {
      continueInBackground('object:webhook-sender', deliverClaims(await openJob(this.env), claims))
    }
  }
