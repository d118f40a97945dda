import { z } from '@hono/zod-openapi'
import { type EventKind, eventKindNames, eventKinds } from '../../../domain/webhooks/webhooks.ts'
import { buildExamplePayload } from './example-contract.ts'
import { payloadSchema } from './payload-contract.ts'

const capitalize = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const Headers = z.object({
  'webhook-id': z.string().openapi({
    description: 'The id of the event. It is the same at every attempt: ignore a request whose id you have handled.',
    example: 'evn_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
  }),
  'webhook-timestamp': z.string().openapi({
    description: 'The time of this attempt in Unix seconds. Reject requests that are older than five minutes.',
    example: '1780300800',
  }),
  'webhook-signature': z.string().openapi({
    description:
      '`v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`. The key is the base64-decoded part of the secret after `whsec_`. For 24 hours after a rotation there are two signatures, separated by a space: accept the request if one of them matches.',
    example: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }),
})

/** The OpenAPI tag of `purchase.action` is `Purchase events`. */
const nameTag = (kind: EventKind): string => `${capitalize(kind.split('.')[0] ?? '')} events`

/** Generated clients call `purchase.action` `onPurchaseAction`. */
const nameHandler = (kind: EventKind): string => `on${kind.split(/[.-]/).map(capitalize).join('')}`

/** The requests that endpoints receive, for `webhooks` in the OpenAPI document. */
export const eventRequests = eventKindNames.map((kind) => ({
  path: kind,
  method: 'post' as const,
  tags: [nameTag(kind)],
  operationId: nameHandler(kind),
  summary: `${kind}: ${eventKinds[kind]}`,
  description: 'Signed as in the Standard Webhooks specification.',
  security: [],
  request: {
    headers: Headers,
    body: {
      required: true,
      content: { 'application/json': { schema: payloadSchema(kind), example: buildExamplePayload(kind) } },
    },
  },
  responses: {
    '2XX': { description: 'You received the event. Any other status, including a redirect, is retried.' },
    410: { description: 'You no longer want events. The endpoint is switched off.' },
  },
}))

/** The schema is that of an input, which allows unknown fields, because later versions may add some. */
const buildJsonSchema = (kind: EventKind) =>
  z.toJSONSchema(payloadSchema(kind), {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    },
  }) as Record<string, unknown>

const buildCatalogue = () =>
  eventKindNames.map((kind) => ({
    kind,
    meaning: eventKinds[kind],
    schema: buildJsonSchema(kind),
    example: buildExamplePayload(kind) as Record<string, unknown>,
  }))

let catalogue: ReturnType<typeof buildCatalogue> | undefined

export const listWebhookEventKinds = () => ({ results: (catalogue ??= buildCatalogue()) })
