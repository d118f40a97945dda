import { z } from '@hono/zod-openapi'
import { Id, IdParams, Timestamp } from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { exampleOfExport } from './example-contract.ts'

const Reason = z.string().trim().max(500)

export const Erasure = z
  .object({
    user_id: Id('usr'),
    status: z.enum(['running', 'completed']).openapi({
      description:
        '`running` while recipients of campaigns, stored events of webhooks and rows of imports are still being blanked. Ask again for the present status.',
    }),
    reason: Reason,
    erased_at: Timestamp,
    completed_at: Timestamp.nullable().openapi({ description: 'Null while it runs.' }),
  })
  .openapi('Erasure', { description: 'What was done, and is being done, to erase a customer.' })

const EraseUser = z.object({
  reason: Reason.optional().openapi({
    description: 'The reason. It is kept, so it must not name a person.',
    example: 'Asked for by the customer',
  }),
})

export type EraseUserInput = z.output<typeof EraseUser>

export const eraseUser = operation({
  id: 'eraseUser',
  tag: 'User',
  method: 'post',
  path: '/v1/user/{id}/erase',
  summary: 'Erase a user',
  description:
    'Blanks names, addresses, numbers and metadata of the customer wherever they are stored, at once in the database and within minutes in campaigns, stored events and rows of imports. The files of these imports are deleted. Orders, purchases and sums stay. It cannot be undone. Suppressed addresses stay suppressed by a hash. Erasing again changes nothing.',
  roles: ['OA'],
  params: IdParams('usr'),
  body: EraseUser,
  example: { reason: 'Asked for by the customer' },
  response: Erasure,
})

const Rows = (description: string) => z.array(z.looseObject({})).openapi({ description })

const UserExport = z
  .object({
    exported_at: Timestamp,
    user: Rows('The customer: one row.'),
    editions: Rows('Editions that the customer bought in, with the contact data that each was given.'),
    orders: Rows('Orders with their carts.'),
    transactions: Rows('Payments of the orders.'),
    purchases: Rows('What was bought.'),
    uses: Rows('When and where it was used.'),
    refunds: Rows('Refunds that were asked for, with what was written about them.'),
    consents: Rows('Every answer to a consent.'),
    suppressions: Rows('Addresses that get no messages.'),
    bounces: Rows('Messages that an address did not take.'),
    emails: Rows('Messages about orders.'),
    campaigns: Rows('Campaigns that reached the customer, and when they were read.'),
    changes: Rows('What was changed by hand.'),
    erasure: Rows('The erasure, if there was one.'),
    campaign_recipients: Rows('The customer as a recipient of campaigns.'),
  })
  .openapi('UserExport', { description: 'All that is stored of a customer. Rows may get further fields.' })

export const exportUser = operation({
  id: 'exportUser',
  tag: 'User',
  method: 'get',
  path: '/v1/user/{id}/export',
  summary: 'Export a user',
  description: 'All that is stored of a customer, as one JSON document. Who asked for it is in the audit log.',
  roles: ['OA'],
  params: IdParams('usr'),
  file: {
    type: 'application/json',
    description: 'The document. It is streamed.',
    schema: UserExport,
    example: JSON.stringify(exampleOfExport),
  },
})
