import { z } from '@hono/zod-openapi'
import { admins } from '../../../domain/accounts/access.ts'
import { eventKindNames } from '../../../domain/webhooks/webhooks.ts'
import { Id, Timestamp } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import {
  Choices,
  IdFilter,
  InstantFilter,
  ListPage,
  type ListRequest,
  listQuery,
} from '../../../http/requests/list-query.ts'

export const StoredEvent = z
  .object({
    id: Id('evn').openapi({ description: 'The `webhook-id` header of its deliveries.' }),
    kind: z.string().openapi({ example: 'purchase.action' }),
    organization_id: Id('org'),
    edition_id: Id('edt').nullable().openapi({ description: 'Null when the event belongs to the whole organisation.' }),
    created: Timestamp,
    cursor: z.string().max(64).openapi({
      pattern: '^org_',
      description: 'The position of the event. Send it as `after` to continue behind the event.',
      example: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8:42',
    }),
    payload: z.string().openapi({ description: 'The body that endpoints receive, byte for byte.' }),
  })
  .openapi('StoredWebhookEvent')

export const OnlyOrganizationFilter = IdFilter.openapi({
  description: 'You can leave it out if you have roles in one organisation only.',
})
export const ResourceFilter = IdFilter.openapi({
  description: 'The id of an order, purchase, customer or other resource that the event is about.',
})
export const CreatedAfter = InstantFilter.openapi({ description: 'Only those at or after this time.' })
export const CreatedBefore = InstantFilter.openapi({ description: 'Only those before this time.' })

const filters = {
  organization_id: OnlyOrganizationFilter.optional(),
  edition_id: IdFilter.optional(),
  kind: Choices(eventKindNames).optional(),
  resource_id: ResourceFilter.optional(),
  created_after: CreatedAfter.optional(),
  after: z.string().max(100).optional().openapi({ description: 'The `cursor` of the last event that you have.' }),
}

const listEventsQuery = listQuery({
  ordering: ['cursor'],
  filters: {
    ...filters,
    created_before: CreatedBefore.optional(),
  },
})

const StreamQuery = z.object(filters)

export type EventQuery = ListRequest<typeof listEventsQuery>
export type StreamRequest = z.output<typeof StreamQuery>

const tag = 'Webhooks' as const

export const listWebhookEvents = operation({
  id: 'listWebhookEvents',
  tag,
  method: 'get',
  path: '/v1/webhooks/events',
  summary: 'List events',
  description:
    'Returns what happened, whether an endpoint subscribes to it or not, in the order in which it was stored. To follow new events, send the `cursor` of the last event as `after`. Payloads may contain personal data. Roles of an edition see the events of their editions only.',
  roles: admins,
  query: listEventsQuery,
  response: ListPage(StoredEvent),
  errors: ['events_expired'],
})

const StreamedEvent = z
  .object({
    id: z.string().optional().openapi({ description: 'The cursor up to which you have all events.' }),
    data: z.string().optional().openapi({ description: 'The body that endpoints receive, as JSON.' }),
    retry: z.int().optional().openapi({ description: 'Milliseconds until the client connects again.' }),
  })
  .openapi('StreamedWebhookEvent', { description: 'One event of the stream.' })

export const streamWebhookEvents = operation({
  id: 'streamWebhookEvents',
  tag,
  method: 'get',
  path: '/v1/webhooks/events/stream',
  summary: 'Follow events',
  description:
    'Sends the events of `listWebhookEvents` as server-sent events while they happen. It begins after `Last-Event-ID` or `after`, or with the events from `created_after` on, or else with the next event. The stream closes after 15 minutes, or earlier if there are many events, and when the token ends. Connect again with `Last-Event-ID` to continue without a gap. A token has at most three streams at a time, and an organisation ten.',
  roles: admins,
  query: StreamQuery,
  file: {
    type: 'text/event-stream',
    description: 'The first event has an id only, from which you can resume. The schema describes one event.',
    schema: StreamedEvent,
    example: '{"id":"org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8:42","data":"{\\"type\\":\\"purchase.action\\"}"}',
    resumes: true,
  },
  errors: ['events_expired', 'too_many_streams'],
})
