// npm run schema makes this file from migrations/0016_transactional_emails.sql and src/db/column-types.ts.
//
// E-mails that follow from an action.

import { integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** The message that an edition sends on each occasion. */
export const triggers = sqliteTable(
  'triggers',
  {
    id: text().primaryKey(),
    organization_id: text().notNull(), // references organizations (id)
    edition_id: text().notNull(), // references editions (id)
    kind: text().notNull(),
    channel: text().notNull(),
    email_message_id: text(), // references email_messages (id)
    is_active: integer({ mode: 'boolean' }).notNull().default(true),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [unique().on(table.edition_id, table.kind, table.channel)],
)

/**
 * One row per message that follows from an action: receipts, consent confirmations, refund confirmations,
 * confirmations of sign-ups and test messages, which belong to no customer, and codes to sign in with, which belong
 * to no organisation either.
 */
export const transactionalEmails = sqliteTable(
  'transactional_emails',
  {
    id: text().primaryKey(),
    organization_id: text(), // references organizations (id)
    edition_id: text(), // references editions (id)
    order_id: text(), // references orders (id)
    user_id: text(), // references users (id)
    kind: text({ enum: types.transactional_emails.kind }).notNull(),
    /** 0 for the first receipt of an order. One that is sent again has the next number. */
    resend_number: integer().notNull().default(0),
    /** The account that asked for the receipt or the test; null for a message that the service sends by itself. */
    requested_by: text(),
    email_message_id: text(),
    /** The answer that the message asks to confirm, by its id, and by its key with the wording that is shown. */
    consent_record_id: text(),
    confirmation: text({ mode: 'json' }).$type<typeof types.transactional_emails.confirmation.value>(),
    refund_request_id: text(), // references refund_requests (id)
    /** The attempt that the message reports. One that fails late and is repeated is confirmed again. */
    refund_attempt: integer(),
    /** The data of the refund in the message, as they were then. */
    refund: text({ mode: 'json' }).$type<typeof types.transactional_emails.refund.value>(),
    sign_in_code_id: text(), // references sign_in_codes (id)
    /** The sign-up that the message asks to confirm. The message may outlive it. */
    signup_request_id: text(),
    /** The customer whose data a test message shows; null for sample values. */
    example_user_id: text(),
    language: text({ enum: types.transactional_emails.language }).notNull(),
    recipient: text().notNull(),
    status: text({ enum: types.transactional_emails.status }).notNull(),
    attempts: integer().notNull().default(0),
    due_at: integer(),
    claimed_until: integer(),
    /**
     * The content of the call to the provider, from just before the first call until the end, so that a repeated call
     * is the same. A test message has it from the start.
     */
    content: text(),
    provider: text(),
    first_call_at: integer(),
    /** True if a call was made whose answer never came. */
    is_doubtful: integer({ mode: 'boolean' }).notNull().default(false),
    provider_id: text(),
    error_code: text(),
    error_detail: text().notNull().default(''),
    /** The reason why a pending message waits for the provider, and since when. `due_at` is its next attempt. */
    waiting_reason: text(),
    waiting_since: integer(),
    sent_at: integer(),
    created_at: integer().notNull(),
    modified_at: integer().notNull(),
  },
  (table) => [unique().on(table.order_id, table.kind, table.resend_number)],
)
