import { z } from '@hono/zod-openapi'
import { type EventKind, eventKindNames, eventKinds } from '../../../domain/webhooks/webhooks.ts'
import { examplePayload } from './example-contract.ts'
import { payloadOf } from './payload-contract.ts'

const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const Headers = z.object({
  'webhook-id': z.string().openapi({
    description: 'Id of the event, the same at every attempt: a receiver that has seen it need not act again.',
    example: 'evn_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
  }),
  'webhook-timestamp': z.string().openapi({
    description: 'Unix seconds of this attempt. Refuse requests that are older than a few minutes.',
    example: '1780300800',
  }),
  'webhook-signature': z.string().openapi({
    description:
      '`v1,` and the base64 of the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`, by the key that the base64 after `whsec_` in the secret decodes to. For 24 hours after a rotation there are two, separated by a space: one that fits is enough.',
    example: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }),
})

/** `purchase.action` is of the group `Purchase events`. */
const groupOf = (kind: EventKind): string => `${capitalized(kind.split('.')[0] ?? '')} events`

/** `purchase.action` is `onPurchaseAction` in generated clients. */
const nameOf = (kind: EventKind): string => `on${kind.split(/[.-]/).map(capitalized).join('')}`

/** The requests that endpoints receive, for the `webhooks` of the OpenAPI document. */
export const eventRequests = eventKindNames.map((kind) => ({
  path: kind,
  method: 'post' as const,
  tags: [groupOf(kind)],
  operationId: nameOf(kind),
  summary: `${kind}: ${eventKinds[kind]}`,
  description: 'Signed as in the Standard Webhooks specification.',
  security: [],
  request: {
    headers: Headers,
    body: {
      required: true,
      content: { 'application/json': { schema: payloadOf(kind), example: examplePayload(kind) } },
    },
  },
  responses: {
    '2XX': { description: 'Received. Anything else, a redirect too, is a failure and is tried again.' },
    410: { description: 'Nobody is there any more: the endpoint is switched off.' },
  },
}))
