import type { DeliverMessage } from '../../context.ts'

export { deliverDue } from './delivery/deliver.ts'
export { sweepDeliveries } from './delivery/enqueue.ts'
export { sweepEvents } from './events/sweep-events.ts'

export const isDeliverMessage = (body: unknown): body is DeliverMessage =>
  typeof body === 'object' &&
  body !== null &&
  (body as Partial<DeliverMessage>).type === 'webhook.deliver' &&
  typeof (body as Partial<DeliverMessage>).endpoint_id === 'string'
