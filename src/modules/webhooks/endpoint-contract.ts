import { z } from '@hono/zod-openapi'
import type { RoleCode } from '../../domain/accounts/access.ts'
import { disabledReasons, eventKindNames, maxEndpointNameLength, maxUrlLength } from '../../domain/webhooks/webhooks.ts'
import { Id, RequiredText, Timestamp } from '../../http/fields.ts'

/** Who sees an endpoint, and who may change it and read its secret. */
export const readers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']
export const keepers: readonly RoleCode[] = ['OA', 'EA']

const maxTimeoutSeconds = 2_147_483_647

export const EventKindName = z.enum(eventKindNames)

const Url = z.string().trim().min(1).max(maxUrlLength).openapi({
  format: 'uri',
  description:
    'Where the events are sent: https on port 443 at a public name. No credentials, no IP addresses, no names of private networks.',
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
          message: 'Listed more than once.',
        })
  })
  .openapi({ uniqueItems: true, maxItems: eventKindNames.length })

const timeoutMeaning = { description: 'At most 30 count; 0 means 15.', example: 15 }
const TimeoutSeconds = z.int().min(0).max(maxTimeoutSeconds).openapi(timeoutMeaning)
const onlyEvents = { description: 'Limits the endpoint to the events of this edition.' }

export const CreateWebhook = z.object({
  organization_id: Id('org'),
  name: RequiredText(maxEndpointNameLength),
  url: Url,
  events: Events,
  edition_id: Id('edt').nullable().optional().openapi(onlyEvents),
  is_active: z.boolean().default(true),
  timeout_seconds: TimeoutSeconds.default(0),
})

export const UpdateWebhook = z.object({
  name: RequiredText(maxEndpointNameLength).optional(),
  url: Url.optional(),
  edition_id: Id('edt').nullable().optional().openapi(onlyEvents),
  events: Events.optional(),
  is_active: z.boolean().optional().openapi({
    description: 'Switching off ends what waits as `failed`; switching on starts with a clean record.',
  }),
  timeout_seconds: TimeoutSeconds.optional(),
})

export type CreateWebhookInput = z.output<typeof CreateWebhook>
export type UpdateWebhookInput = z.output<typeof UpdateWebhook>

export const WebhookEndpoint = z
  .object({
    id: Id('whk'),
    organization_id: Id('org').nullable().openapi({ description: 'Never null; the specification allows it.' }),
    name: RequiredText(maxEndpointNameLength).openapi({ example: 'Warehouse' }),
    url: Url,
    edition_id: Id('edt').nullable().openapi({ description: 'Null for an endpoint of the whole organisation.' }),
    events: Events,
    is_active: z.boolean(),
    timeout_seconds: TimeoutSeconds,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('WebhookEndpoint')

export const WebhookEndpointDetail = WebhookEndpoint.extend({
  secret: z.string().max(64).optional().openapi({
    description:
      'For admins only, with a token of the scope `write`. `whsec_` and the base64 of the key that signs requests, as in the Standard Webhooks specification.',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  }),
  previous_secret_expires_at: Timestamp.nullable().openapi({
    description: 'Until then the secret before the last rotation signs too; null when it does not.',
  }),
  disabled_at: Timestamp.nullable().openapi({ description: 'Null while it is switched on.' }),
  disabled_reason: z.enum(disabledReasons).nullable().openapi({
    description:
      'Switched off by hand, by an answer 410, or after five days of nothing but failures. Null while it is switched on.',
  }),
  failing_since: Timestamp.nullable().openapi({
    description: 'Nothing but failures came back since then; null when the latest attempt succeeded.',
  }),
}).openapi('WebhookEndpointDetail')
