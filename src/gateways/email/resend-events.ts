import { isRecord } from '../../domain/text/json.ts'
import type { ProviderEvent } from '../../domain/messaging/messaging.ts'
import { hasValidSignature } from '../../domain/webhooks/webhook-signature.ts'
import { readText } from '../provider-api/post-json.ts'
import { type EventRequest, readInstant, readEvent } from '../provider-events/event-request.ts'

const types = new Map<string, ProviderEvent['type']>(
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

/** Bounces about the message or its sender; the address may be valid. */
const isBlock = (subType: string, message: string): boolean =>
  /rejected|content|attachment|toolarge/i.test(subType) || /\b5\.7\.\d+\b/.test(message)

function bounceOf(bounce: Record<string, unknown>): ProviderEvent['bounce'] {
  if (isBlock(readText(bounce['subType']), readText(bounce['message']))) return 'block'
  return /^permanent$/i.test(readText(bounce['type'])) ? 'hard' : 'soft'
}

/** Tags come back as an object, of older accounts as they were sent. */
function referenceOf(tags: unknown): string | null {
  const sent = Array.isArray(tags) ? tags.find((tag) => isRecord(tag) && tag['name'] === 'reference') : null
  const value = isRecord(sent) ? sent['value'] : isRecord(tags) ? tags['reference'] : null
  return readText(value) || null
}

function detailOf(data: Record<string, unknown>): string {
  for (const name of ['bounce', 'failed', 'suppressed', 'complaint']) {
    const part = data[name]
    if (isRecord(part)) return readText(part['message']) || readText(part['reason']) || readText(part['subType'])
  }
  return ''
}

/** The events that Resend reports: none for other kinds, null for an invalid signature. */
export async function resendEvents(
  secret: string,
  { headers, body }: EventRequest,
  now: number,
): Promise<ProviderEvent[] | null> {
  const id = headers.get('svix-id') ?? ''
  const signed = { id, timestamp: headers.get('svix-timestamp') ?? '', signature: headers.get('svix-signature') ?? '' }
  if (!(await hasValidSignature(secret, signed, body, now))) return null
  const event = readEvent(body)
  const type = event && types.get(readText(event['type']))
  const data = event && isRecord(event['data']) ? event['data'] : null
  if (!event || !type || !data) return []
  const click = isRecord(data['click']) ? data['click'] : {}
  const to: unknown = Array.isArray(data['to']) ? data['to'][0] : data['to']
  return [
    {
      id,
      type,
      reference: referenceOf(data['tags']),
      providerId: readText(data['email_id']) || null,
      address: readText(to) || null,
      at: readInstant(click['timestamp']) ?? readInstant(event['created_at']) ?? now,
      bounce: type === 'bounced' ? bounceOf(isRecord(data['bounce']) ? data['bounce'] : {}) : null,
      url: type === 'clicked' && typeof click['link'] === 'string' ? click['link'] : null,
      detail: detailOf(data),
    },
  ]
}
