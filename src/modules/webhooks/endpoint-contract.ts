import { z } from '@hono/zod-openapi'
import {
  disabledReasons,
  eventKindNames,
  maxEndpointNameLength,
  maxUrlLength,
  ratedDeliveries,
} from '../../domain/webhooks/webhooks.ts'
import { Id, RequiredText, Timestamp, waitingFields } from '../../http/fields.ts'

const maxTimeoutSeconds = 2_147_483_647

export const EventKindName = z.enum(eventKindNames).openapi('WebhookEventKind')

const Url = z.string().trim().min(1).max(maxUrlLength).openapi({
  format: 'uri',
  description:
    'Where events are sent: an https URL with a public host name, on port 443. It must not contain credentials, an IP address or a private host name.',
  example: 'https://hooks.example.com/event-commerce',
})

const Events = z
  .array(EventKindName)
  .min(1)
  .superRefine((kinds, context) => {
    for (const [index, kind] of kinds.entries())
      if (kinds.indexOf(kind) < index)
        context.addIssue({
          code: 'custom',
          path: [index],
          params: { code: 'duplicate' },
          message: 'This kind is listed more than once.',
        })
  })
  .openapi({ uniqueItems: true, maxItems: eventKindNames.length })

const TimeoutSeconds = z.int().min(0).max(maxTimeoutSeconds).openapi({
  description: 'Seconds that the endpoint has to answer. 0 means 15, and more than 30 means 30.',
  example: 15,
})
const editionFilter = { description: 'Limits the endpoint to the events of this edition.' }

export const CreateWebhook = z.object({
  organization_id: Id('org'),
  name: RequiredText(maxEndpointNameLength),
  url: Url,
  events: Events,
  edition_id: Id('edt').nullable().optional().openapi(editionFilter),
  is_active: z.boolean().default(true),
  timeout_seconds: TimeoutSeconds.default(0),
})

export const UpdateWebhook = z.object({
  name: RequiredText(maxEndpointNameLength).optional(),
  url: Url.optional(),
  edition_id: Id('edt').nullable().optional().openapi(editionFilter),
  events: Events.optional(),
  is_active: z.boolean().optional().openapi({
    description: '`false` fails all open deliveries. `true` forgets earlier failures.',
  }),
  timeout_seconds: TimeoutSeconds.optional(),
})

export type CreateWebhookInput = z.output<typeof CreateWebhook>
export type UpdateWebhookInput = z.output<typeof UpdateWebhook>

export const WebhookEndpoint = z
  .object({
    id: Id('whk'),
    organization_id: Id('org').nullable().openapi({ description: 'Never null.' }),
    name: RequiredText(maxEndpointNameLength).openapi({ example: 'Warehouse' }),
    url: Url,
    edition_id: Id('edt')
      .nullable()
      .openapi({ description: 'Null when the endpoint receives the events of the whole organisation.' }),
    events: Events,
    is_active: z.boolean(),
    timeout_seconds: TimeoutSeconds,
    created: Timestamp,
    modified: Timestamp,
    disabled_at: Timestamp.nullable().openapi({ description: 'Null while the endpoint is switched on.' }),
    failing_since: Timestamp.nullable().openapi({
      description: 'Every attempt has failed since this time. Null when the latest attempt succeeded.',
    }),
    success_rate: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .openapi({
        description: `The share of deliveries that succeeded, from 0 to 1, among the latest ${ratedDeliveries} of the last 24 hours. Deliveries without a result do not count. Null when there is none with a result.`,
        example: 0.9875,
      }),
  })
  .openapi('WebhookEndpoint')

export const WebhookEndpointDetail = WebhookEndpoint.omit({ success_rate: true })
  .extend({
    secret: z.string().max(64).optional().openapi({
      description:
        '`whsec_` and the base64 of the key that signs requests, as in the Standard Webhooks specification. Only admins see it, with a token of the scope `write`.',
      example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    }),
    previous_secret_expires_at: Timestamp.nullable().openapi({
      description: 'Until this time requests are also signed with the previous secret. Null when there is none.',
    }),
    disabled_reason: z.enum(disabledReasons).nullable().openapi({
      description:
        '`manual`: someone switched the endpoint off. `gone`: it answered 410. `failing`: all attempts failed for five days. Null while the endpoint is switched on.',
    }),
    ...waitingFields,
  })
  .openapi('WebhookEndpointDetail')
