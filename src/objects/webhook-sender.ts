import { DurableObject } from 'cloudflare:workers'
import type { JobCtx } from '../context.ts'
import type { DeliveryClaim, Lane, WebhookSenderRpc } from '../domain/webhooks/webhook-sender.ts'
import { deliverClaims } from '../modules/webhooks/index.ts'

/** A Durable Object for its connections alone. It stores nothing: the table holds what is due, under leases. */
export const webhookSender = <Bindings>(
  open: (env: Bindings) => JobCtx,
  inBackground: (name: string, work: Promise<unknown>) => void,
) =>
  class extends DurableObject<Bindings> implements WebhookSenderRpc {
    async deliver(lane: Lane, claims: readonly DeliveryClaim[]): Promise<void> {
      inBackground('object:webhook-sender', deliverClaims(open(this.env), lane, claims))
    }
  }
