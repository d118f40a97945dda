import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../domain/accounts/access.ts'
import { activityKinds } from '../../domain/activity.ts'
import { channels } from '../../domain/messaging/messaging.ts'
import { customerEmailKinds } from '../../domain/messaging/transactional-emails.ts'
import { currencies } from '../../domain/money.ts'
import { Amount, Count, Id, IdParams, KnownEmail, LanguageCode, Timestamp } from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { ListPage, type ListRequest, listQuery } from '../../http/requests/list-query.ts'

export const Activity = z
  .object({
    id: z.string().openapi({
      description: 'Unique in the list.',
      example: 'purchase_used:use_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    }),
    kind: z.enum(activityKinds),
    created: Timestamp.openapi({ description: 'When it happened.' }),
    actor: z.string().nullable().openapi({
      description: 'The account that did it. Null for the customer, the source of an import and the service itself.',
    }),
    edition_id: Id('edt').nullable().openapi({ description: 'Null for what belongs to no single edition.' }),
    order_id: Id('ord').nullable().openapi({ description: 'Null for what concerns no single order.' }),
    purchase_id: Id('pur').nullable().openapi({ description: 'Null for what concerns no single purchase.' }),
    resource_id: z.string().openapi({
      description:
        'The id of the order, import, use, refund request, wallet pass, consent, transactional e-mail or campaign.',
    }),
    status: z.string().nullable().openapi({
      description:
        'What became of it: `created` or `updated` for an import, the answer to a consent, the present status of anything else. Null for a use.',
    }),
    label: z.string().openapi({
      description:
        'The name of the product, consent, campaign or import, the kind of the e-mail, or the number of the order. Empty for what has no name.',
    }),
    quantity: Count.nullable().openapi({ description: 'The number of uses. Null for anything else.' }),
    amount: Amount().nullable().openapi({ description: 'Major units. Null for what has no amount.' }),
    currency: z.enum(currencies).nullable().openapi({ description: 'Null for what has no amount.' }),
  })
  .openapi('Activity')

const activityQuery = listQuery({ ordering: ['created'], filters: {} })
export type ActivityQuery = ListRequest<typeof activityQuery>

export const listOrderActivity = operation({
  id: 'listOrderActivity',
  tag: 'Orders',
  method: 'get',
  path: '/v1/orders/{id}/activity',
  summary: 'List the activity of an order',
  description:
    'What happened with the order, newest first: imports, uses, refunds, wallet passes, e-mails and its cancellation, with the account that did it. The changes of an import are listed while its rows are stored, 30 days after its end.',
  roles: roleCodes,
  params: IdParams('ord'),
  query: activityQuery,
  response: ListPage(Activity),
})

export const listUserActivity = operation({
  id: 'listUserActivity',
  tag: 'User',
  method: 'get',
  path: '/v1/user/{id}/activity',
  summary: 'List the activity of a user',
  description:
    'Orders, uses, consents, messages and refunds of the customer, newest first. With a role in an edition you see what belongs to your editions.',
  roles: managers,
  params: IdParams('usr'),
  query: activityQuery,
  response: ListPage(Activity),
})

const messageKinds = ['campaign', ...customerEmailKinds, 'signup_confirmation'] as const
export type UserMessageKind = (typeof messageKinds)[number]
const messageStatuses = ['pending', 'sent', 'failed', 'skipped'] as const

export const UserMessage = z
  .object({
    id: z.string().openapi({ description: 'The id of the transactional e-mail, or of the campaign.' }),
    channel: z.enum(channels),
    kind: z.enum(messageKinds),
    edition_id: Id('edt').nullable().openapi({ description: 'Null for a message that belongs to no single edition.' }),
    order_id: Id('ord')
      .nullable()
      .openapi({ description: 'The order of a receipt or refund; null for anything else.' }),
    name: z.string().openapi({ description: 'The name of the campaign. Empty for a transactional e-mail.' }),
    recipient: KnownEmail.nullable().openapi({
      description:
        'The address. Null for a campaign, whose recipients have it, and for an address that your edition does not know.',
    }),
    language: LanguageCode.nullable().openapi({ description: 'Null for a campaign, whose recipients have it.' }),
    status: z.enum(messageStatuses),
    reason: z.string().nullable().openapi({
      description:
        'Why the message was not sent: the reason of the recipient of a campaign, or the error code of the last attempt of an e-mail. Null for a message that was sent.',
    }),
    sent_at: Timestamp.nullable().openapi({ description: 'Null unless the provider accepted the message.' }),
    opened_at: Timestamp.nullable().openapi({ description: 'Null unless the person opened it. Campaigns only.' }),
    clicked_at: Timestamp.nullable().openapi({ description: 'Null unless the person clicked a link. Campaigns only.' }),
    bounced_at: Timestamp.nullable().openapi({ description: 'Null unless the message bounced. Campaigns only.' }),
    complained_at: Timestamp.nullable().openapi({
      description: 'Null unless the person reported it as spam. Campaigns only.',
    }),
    unsubscribed_at: Timestamp.nullable().openapi({
      description: 'Null unless the person unsubscribed through it. Campaigns only.',
    }),
    created: Timestamp.openapi({ description: 'When the e-mail was made, or when the campaign sent or skipped it.' }),
  })
  .openapi('UserMessage')

const messageQuery = listQuery({ ordering: ['created'], filters: { channel: z.enum(channels).optional() } })
export type MessageQuery = ListRequest<typeof messageQuery>

export const listUserMessages = operation({
  id: 'listUserMessages',
  tag: 'User',
  method: 'get',
  path: '/v1/user/{id}/messages',
  summary: 'List messages to a user',
  description:
    'Every e-mail and SMS to the customer with what became of it, newest first: messages of campaigns, also skipped and failed ones, receipts, refunds, and confirmations of consents and sign-ups. Recipients of a campaign that wait for their message are not listed yet. With a role in an edition you see messages of your editions.',
  roles: managers,
  params: IdParams('usr'),
  query: messageQuery,
  response: ListPage(UserMessage),
})
