import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AcceptedTranslation } from '../../../domain/campaigns/content-faults.ts'
import { campaignLifecycle } from '../../../domain/campaigns/lifecycle.ts'
import type { ContentContext, SegmentSnapshot } from '../../../domain/campaigns/snapshots.ts'
import { languages, type TranslatedDict } from '../../../domain/languages.ts'
import { channels } from '../../../domain/messaging/messaging.ts'

export const campaigns = sqliteTable('campaigns', {
  seq: integer().primaryKey(),
  id: text().notNull().unique(),
  organization_id: text().notNull(),
  edition_id: text().notNull(),
  segment_id: text().notNull(),
  name: text().notNull(),
  name_key: text().notNull(),
  search: text().notNull(),
  channel: text({ enum: channels }).notNull(),
  email_message_id: text(),
  sms_body: text({ mode: 'json' }).$type<TranslatedDict>().notNull().default({}),
  accepted_translations: text({ mode: 'json' }).$type<readonly AcceptedTranslation[]>().notNull().default([]),
  status: text({ enum: campaignLifecycle.states }).notNull(),
  scheduled_at: integer(),
  total_recipients: integer().notNull().default(0),
  sent_count: integer().notNull().default(0),
  failed_count: integer().notNull().default(0),
  skipped_count: integer().notNull().default(0),
  delivered_count: integer().notNull().default(0),
  opened_count: integer().notNull().default(0),
  clicked_count: integer().notNull().default(0),
  bounced_count: integer().notNull().default(0),
  unsubscribed_count: integer().notNull().default(0),
  user_count: integer().notNull().default(0),
  error_message: text().notNull().default(''),
  waiting_reason: text(),
  waiting_since: integer(),
  next_attempt_at: integer(),
  started_at: integer(),
  completed_at: integer(),
  run: integer().notNull().default(0),
  revision: integer().notNull().default(0),
  heartbeat_at: integer(),
  segment_snapshot: text({ mode: 'json' }).$type<SegmentSnapshot>(),
  deleted_message_id: text(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

export const campaignContents = sqliteTable(
  'campaign_contents',
  {
    campaign_id: text().notNull(),
    run: integer().notNull(),
    language: text({ enum: languages }).notNull(),
    subject: text().notNull(),
    html: text().notNull(),
    text: text().notNull(),
    /** The position of each link of the template in `campaign_links`. */
    links: text({ mode: 'json' }).$type<readonly number[]>().notNull(),
    context: text({ mode: 'json' }).$type<ContentContext>().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.campaign_id, table.run, table.language] })],
)

export const campaignLinks = sqliteTable(
  'campaign_links',
  {
    campaign_id: text().notNull(),
    position: integer().notNull(),
    url: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.campaign_id, table.position] })],
)

export const softBounces = sqliteTable(
  'soft_bounces',
  {
    organization_id: text().notNull(),
    channel: text({ enum: channels }).notNull(),
    address: text().notNull(),
    reference: text().notNull(),
    bounced_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.channel, table.address, table.reference] })],
)

export const campaignReceipts = sqliteTable(
  'campaign_receipts',
  {
    organization_id: text().notNull(),
    user_id: text().notNull(),
    campaign_id: text().notNull(),
    received_at: integer(),
    opened_at: integer(),
    clicked_at: integer(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.campaign_id] })],
)
