import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ConfirmationSnapshot } from '../../../domain/email/messages/consent-confirmation.ts'
import type { RefundSnapshot } from '../../../domain/email/messages/refund-messages.ts'
import { languages } from '../../../domain/languages.ts'
import { transactionalEmailKinds, transactionalEmailStatuses } from '../../../domain/messaging/transactional-emails.ts'

export const transactionalEmails = sqliteTable('transactional_emails', {
  id: text().primaryKey(),
  organization_id: text().notNull(),
  edition_id: text(),
  order_id: text(),
  user_id: text().notNull(),
  kind: text({ enum: transactionalEmailKinds }).notNull(),
  email_message_id: text(),
  consent_record_id: text(),
  confirmation: text({ mode: 'json' }).$type<ConfirmationSnapshot>(),
  refund_request_id: text(),
  refund_attempt: integer(),
  refund: text({ mode: 'json' }).$type<RefundSnapshot>(),
  language: text({ enum: languages }).notNull(),
  recipient: text().notNull(),
  status: text({ enum: transactionalEmailStatuses }).notNull(),
  attempts: integer().notNull().default(0),
  due_at: integer(),
  claimed_until: integer(),
  content: text(),
  provider: text(),
  first_call_at: integer(),
  is_doubtful: integer({ mode: 'boolean' }).notNull().default(false),
  provider_id: text(),
  error_code: text(),
  error_detail: text().notNull().default(''),
  waiting_reason: text(),
  waiting_since: integer(),
  sent_at: integer(),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})
