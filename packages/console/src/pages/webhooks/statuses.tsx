import type { Schema } from '../../api'
import { Status, type Tone } from '../../parts/status'
import { loadWords } from '../../words'

const t = await loadWords('webhooks')

type DeliveryStatusCode = Schema['WebhookDelivery']['status']

const tones: Record<DeliveryStatusCode, Tone> = {
  pending: 'wait',
  retrying: 'act',
  success: 'good',
  failed: 'bad',
  exhausted: 'bad',
}

export const DeliveryStatus = ({ status }: { status: DeliveryStatusCode }) => (
  <Status tone={tones[status]} label={t.statuses[status]} />
)

type EndpointState = Pick<Schema['WebhookEndpoint'], 'is_active' | 'failing_since'>

/** Tells whether an endpoint receives events, and whether it answers. */
export function EndpointStatus({ is_active, failing_since }: EndpointState) {
  if (!is_active) return <Status tone="none" label={t.off} />
  return failing_since === null ? <Status tone="good" label={t.on} /> : <Status tone="bad" label={t.failing} />
}
