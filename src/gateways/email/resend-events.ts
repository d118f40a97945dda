import type { ProviderEvent } from '../../domain/messaging/messaging.ts'
import { isRecord } from '../../domain/text/json.ts'
import { hasValidSignature } from '../../domain/webhooks/webhook-signature.ts'
import { readText } from '../provider-api/call-api.ts'
import { type EventRequest, parseEventTime, parseEvent } from '../provider-events/event-request.ts'

const eventTypes = new Map<string, ProviderEvent['type']>(
  Object.entries({
    'email.sent': 'accepted',
    'email.delivered': 'delivered',
    'email.delivery_delayed': 'deferred',
    'email.bounced': 'bounced',
    'email.complained': 'complained',
    'email.opened': 'opened',
    'email.clicked': 'clicked',
    'email.failed': 'failed',
    'email.suppressed': 'failed',
  } as const),
)

/** A block is a bounce because of the message or its sender. The address may be valid. */
const isBlock = (subType: string, message: string): boolean =>
  /rejected|content|attachment|toolarge/i.test(subType) || /\b5\.7\.\d+\b/.test(message)

function classifyBounce(bounce: Record<string, unknown>): ProviderEvent['bounce'] {
  if (isBlock(readText(bounce['subType']), readText(bounce['message']))) return 'block'
  return /^permanent$/i.test(readText(bounce['type'])) ? 'hard' : 'soft'
}

/** Resend returns tags as an object, and for older accounts as the list that was sent. */
function readReference(tags: unknown): string | null {
  const tag = Array.isArray(tags) ? tags.find((item) => isRecord(item) && item['name'] === 'reference') : null
  const value = isRecord(tag) ? tag['value'] : isRecord(tags) ? tags['reference'] : null
  return readText(value) || null
}

function readDetail(data: Record<string, unknown>): string {
  for (const name of ['bounce', 'failed', 'suppressed', 'complaint']) {
    const part = data[name]
    if (isRecord(part)) return readText(part['message']) || readText(part['reason']) || readText(part['subType'])
  }
  return ''
}

/** Reads the events of a request from Resend. Returns null for an invalid signature. */
export async function readResendEvents(
  secret: string,
  { headers, body }: EventRequest,
  now: number,
): Promise<ProviderEvent[] | null> {
  const id = headers.get('svix-id') ?? ''
  const signature = {
    id,
    timestamp: headers.get('svix-timestamp') ?? '',
    signature: headers.get('svix-signature') ?? '',
  }
  if (!(await hasValidSignature(secret, signature, body, now))) return null
  const event = parseEvent(body)
  const type = event && eventTypes.get(readText(event['type']))
  const data = event && isRecord(event['data']) ? event['data'] : null
  if (!event || !type || !data) return []
  const click = isRecord(data['click']) ? data['click'] : {}
  const to: unknown = Array.isArray(data['to']) ? data['to'][0] : data['to']
  return [
    {
      id,
      type,
      reference: readReference(data['tags']),
      providerId: readText(data['email_id']) || null,
      address: readText(to) || null,
      at: parseEventTime(click['timestamp']) ?? parseEventTime(event['created_at']) ?? now,
      bounce: type === 'bounced' ? classifyBounce(isRecord(data['bounce']) ? data['bounce'] : {}) : null,
      url: type === 'clicked' && typeof click['link'] === 'string' ? click['link'] : null,
      detail: readDetail(data),
    },
  ]
}
