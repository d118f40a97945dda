import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import type { webhooks } from './generated/schema.ts'

export { WebhookVerificationError }

type BodyOf<Hook> = Hook extends { post: { requestBody: { content: { 'application/json': infer Body } } } }
  ? Body
  : never

/** An event that an endpoint receives. `type` tells which `data` it has. */
export type WebhookEvent = { [Kind in keyof webhooks]: BodyOf<webhooks[Kind]> }[keyof webhooks]

type ReceivedHeaders =
  | { get: (name: string) => string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']

/** Reads a header from the class of any library, or from an object with names in any spelling. */
function readHeader(headers: ReceivedHeaders, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? ''
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return (Array.isArray(value) ? (value as string[])[0] : (value as string | undefined)) ?? ''
}

/**
 * Checks the signature of a webhook and returns its event. Throws a `WebhookVerificationError` if the signature or the
 * time is wrong.
 *
 * @param body The body as it was received, before any parsing.
 * @param secret The secret of the endpoint (`whsec_…`).
 */
export function verifyWebhook(body: string | Uint8Array, headers: ReceivedHeaders, secret: string): WebhookEvent {
  const text =
    typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(body)
  const signedHeaders = Object.fromEntries(names.map((name) => [name, readHeader(headers, name)]))
  return new Webhook(secret).verify(text, signedHeaders) as WebhookEvent
}
