import { z } from '@hono/zod-openapi'
import { channels } from '../../domain/messaging/messaging.ts'
import { Id, IdParams, LanguageInput, Timestamp } from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { User } from '../users/index.ts'

const Reason = z.string().trim().max(500)

export const Erasure = z
  .object({
    user_id: Id('usr'),
    status: z.enum(['running', 'completed']).openapi({
      description:
        '`running`: campaign recipients, stored webhook events and import rows are still being erased. Send the request again to see the current status.',
    }),
    reason: Reason,
    erased_at: Timestamp,
    completed_at: Timestamp.nullable().openapi({ description: 'Null while the erasure is running.' }),
  })
  .openapi('Erasure', { description: 'The erasure of a customer.' })

const EraseUser = z.object({
  reason: Reason.optional().openapi({
    description: 'Why the customer is erased. The text is kept, so it must not name a person.',
    example: 'Asked for by the customer',
  }),
})

export type EraseUserInput = z.output<typeof EraseUser>

export const eraseUser = operation({
  id: 'eraseUser',
  tag: 'User',
  ...action('/v1/user', 'usr', 'erase'),
  summary: 'Erase a user',
  description:
    'Erases the names, addresses, phone numbers and metadata of a customer: immediately in the database, and within minutes in campaigns, stored webhook events and import rows. The files of these imports are deleted. Orders, purchases and amounts stay. Suppressed addresses stay suppressed as hashes. An erasure cannot be undone; repeating it changes nothing.',
  agentAccess: 'confirm',
  roles: ['OA'],
  body: EraseUser,
  example: { reason: 'Asked for by the customer' },
  response: Erasure,
})

const MergeUsers = z.object({
  user_id: Id('usr').openapi({
    description: 'The customer to merge into the one in the path. Both are of one organisation.',
  }),
  dry_run: z.boolean().default(false).openapi({ description: 'True to see what would happen. It changes nothing.' }),
})

export type MergeUsersInput = z.output<typeof MergeUsers>

const MovedCount = z.int()

export const UserMerge = z
  .object({
    user: User.openapi({ description: 'The customer after the merge.' }),
    merged_user_id: Id('usr'),
    dry_run: z.boolean(),
    moved: z.object({
      orders: MovedCount,
      purchases: MovedCount,
      refunds: MovedCount,
      wallet_passes: MovedCount,
      consent_records: MovedCount,
      emails: MovedCount,
      campaigns: MovedCount,
      editions: MovedCount,
    }),
    earlier_addresses: z.array(z.object({ channel: z.enum(channels), address: z.string() })).openapi({
      description: 'Addresses at which nothing is sent to the customer. Imports find the customer by them.',
    }),
    collisions: z
      .array(
        z.object({
          type: z.enum(['field', 'metadata', 'edition', 'consent', 'campaign']),
          name: z.string().openapi({
            description: 'The field, the key of the metadata or of the consent, or the id of the edition or campaign.',
          }),
          kept: z.string().nullable().openapi({ description: 'What is left. Null for rows that become one.' }),
          dropped: z.string().nullable().openapi({ description: 'What is not. Null for rows that become one.' }),
        }),
      )
      .openapi({ description: 'What both customers have.' }),
  })
  .openapi('UserMerge', { description: 'A customer into whom another one was merged.' })

export const mergeUsers = operation({
  id: 'mergeUsers',
  tag: 'User',
  ...action('/v1/user', 'usr', 'merge'),
  summary: 'Merge a user into another',
  description: `Two customers who are one person become one. The customer in the path keeps their id, takes orders, purchases, refunds,
passes, consents and messages of the other one, and the fields that they lack. Of two answers to a consent the later one counts, and
suppressions stay. Links that were sent to the other customer still work. The other id then answers 404 with \`merged_into\`.
409 \`user_busy\` while one of the two is being imported or sent to. A merge cannot be undone, so send \`dry_run\` first.`,
  agentAccess: 'confirm',
  roles: ['OA'],
  body: MergeUsers,
  example: { user_id: 'usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F9', dry_run: true },
  response: UserMerge,
  errors: ['user_busy', 'user_erased'],
})

const Rows = (description: string) => z.array(z.looseObject({})).openapi({ description })

const UserExport = z
  .object({
    exported_at: Timestamp,
    user: Rows('The customer, as a single row.'),
    editions: Rows('Editions of the customer, with the contact data that each edition has.'),
    earlier_addresses: Rows('Addresses from customers who were merged into this one.'),
    merges: Rows('Customers who were merged into this one.'),
    orders: Rows('Orders with the amounts of their carts.'),
    transactions: Rows('Payments and refunds of the orders.'),
    purchases: Rows('Purchases of the customer.'),
    uses: Rows('Uses of the purchases, with time and location.'),
    refunds: Rows('Refund requests with their comments.'),
    consents: Rows('All answers to consents.'),
    suppressions: Rows('Suppressed addresses.'),
    bounces: Rows('Bounced messages.'),
    emails: Rows('E-mails about orders, refunds, consents and sign-ups.'),
    signups: Rows('Requests of sign-up forms with an address of the customer, for 7 days.'),
    campaigns: Rows('Campaigns that the customer received, opened or clicked.'),
    import_rows: Rows('Rows of imported files that made the orders.'),
    changes: Rows('Changes that people made to the customer.'),
    erasure: Rows('The erasure of the customer, if any.'),
    campaign_recipients: Rows('The data of the customer as a recipient of campaigns.'),
  })
  .openapi('UserExport', { description: 'All stored data of a customer. Rows may get more fields in the future.' })

const exampleExport = {
  exported_at: '2026-06-01T08:00:00.000Z',
  user: [{ id: 'usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', email: 'aegir@example.dk', first_name: 'Ægir', last_name: 'Holm' }],
  editions: [{ edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', created: '2025-12-01T08:00:00.000Z' }],
  earlier_addresses: [],
  merges: [],
  orders: [{ id: 'ord_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', order_number: 'A-1001', amount: 450, currency: 'dkk' }],
  transactions: [],
  purchases: [],
  uses: [],
  refunds: [],
  consents: [],
  suppressions: [],
  bounces: [],
  emails: [],
  signups: [],
  campaigns: [],
  import_rows: [],
  changes: [],
  erasure: [],
  campaign_recipients: [],
}

export const exportUser = operation({
  id: 'exportUser',
  tag: 'User',
  method: 'get',
  path: '/v1/user/{id}/export',
  summary: 'Export a user',
  description:
    'Returns all stored data of a customer: as one JSON document, or as a page to read with `format=html` or `Accept: text/html`. The audit log records who exported it.',
  roles: ['OA'],
  params: IdParams('usr'),
  query: z.object({
    format: z.enum(['json', 'html']).optional().openapi({
      description: '`html` is a page for people. Default: `html` for a client that prefers `text/html`, else `json`.',
    }),
    language: LanguageInput.optional().openapi({
      description: 'The language of the page. Default: the language of the customer.',
    }),
  }),
  file: {
    hasPage: true,
    type: 'application/json',
    description: 'The document is streamed.',
    schema: UserExport,
    example: JSON.stringify(exampleExport),
  },
})
