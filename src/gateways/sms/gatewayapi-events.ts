import type { ProviderEvent } from '../../domain/messaging/messaging.ts'
import { sha256, toHex, utf8 } from '../../domain/text/encoding.ts'
import { isRecord } from '../../domain/text/json.ts'
import { readText } from '../provider-api/call-api.ts'
import { type EventRequest, parseEventTime, parseEvent } from '../provider-events/event-request.ts'

/** GatewayAPI's documentation uses both names. */
const statusEvents = ['message.status.sms', 'messaging.status.sms']

const eventTypes = new Map<string, ProviderEvent['type']>(
  Object.entries({
    accepted: 'accepted',
    scheduled: 'accepted',
    enroute: 'accepted',
    sent: 'accepted',
    buffered: 'deferred',
    delivered: 'delivered',
    undeliverable: 'bounced',
    undelivered: 'bounced',
    expired: 'bounced',
    rejected: 'bounced',
    failed: 'failed',
    deleted: 'failed',
    skipped: 'failed',
  } as const),
)

function classifyBounce(status: string, reason: string): ProviderEvent['bounce'] {
  if (/unknown subscriber|invalid (number|msisdn|recipient|destination)|unallocated|not in service/i.test(reason))
    return 'hard'
  return status === 'rejected' || /block|barred|filter|spam|blacklist/i.test(reason) ? 'block' : 'soft'
}

async function isSignedBy(secret: string, header: string, body: string): Promise<boolean> {
  const [, hex] = /^v1=([0-9a-f]{64})$/i.exec(header.trim()) ?? []
  if (!secret || !hex) return false
  const mac = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const key = await crypto.subtle.importKey('raw', utf8(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  return crypto.subtle.verify('HMAC', key, mac, utf8(body))
}

/** Reads the events of a request from GatewayAPI. Returns null for an invalid signature. */
export async function readGatewayApiEvents(
  secret: string,
  { headers, body }: EventRequest,
  now: number,
): Promise<ProviderEvent[] | null> {
  if (!(await isSignedBy(secret, headers.get('signature') ?? '', body))) return null
  const envelope = parseEvent(body)
  const event = envelope && isRecord(envelope['event']) ? envelope['event'] : null
  if (!envelope || !event || !statusEvents.includes(readText(envelope['event_type']))) return []
  const status = readText(event['status']).toLowerCase()
  const type = eventTypes.get(status)
  if (!type) return []
  const recipient = event['recipient']
  const digits = typeof recipient === 'number' || typeof recipient === 'string' ? String(recipient) : ''
  const detail = readText(event['error']) || readText(event['error_message']) || readText(event['reason'])
  return [
    {
      id: readText(envelope['event_id']) || toHex(await sha256(body)),
      type,
      reference: readText(event['reference']) || null,
      providerId: readText(event['msg_id']) || null,
      address: /^\+?\d{5,15}$/.test(digits) ? `+${digits.replace('+', '')}` : null,
      at:
        parseEventTime(event['status_at']) ??
        parseEventTime(event['timestamp']) ??
        parseEventTime(envelope['timestamp']) ??
        now,
      bounce: type === 'bounced' ? classifyBounce(status, detail) : null,
      url: null,
      detail,
    },
  ]
}
