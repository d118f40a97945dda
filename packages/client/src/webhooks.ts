import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import type { webhooks } from './generated/schema.ts'

export { WebhookVerificationError }

type BodyOf<Hook> = Hook extends { post: { requestBody: { content: { 'application/json': infer Body } } } }
  ? Body
  : never

/** An event that an endpoint receives. `type` tells which `data` it has. */
export type WebhookEvent = { [Kind in keyof webhooks]: BodyOf<webhooks[Kind]> }[keyof webhooks]

type ReceivedHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']

const readHeader = (headers: ReceivedHeaders, name: string): string => {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

/**
 * Checks the signature of a webhook and returns its event. Throws a `WebhookVerificationError` if the signature or the
 * time is wrong.
 *
 * @param body The body as it was received, before any parsing.
 * @param secret The secret of the endpoint (`whsec_…`).
 */
export function verifyWebhook(body: string | Uint8Array, headers: ReceivedHeaders, secret: string): WebhookEvent {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signedHeaders = Object.fromEntries(names.map((name) => [name, readHeader(headers, name)]))
  return new Webhook(secret).verify(text, signedHeaders) as WebhookEvent
}
