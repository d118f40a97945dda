// npm run schema makes this file from migrations/0019_campaigns.sql and src/db/column-types.ts.
//
// Campaigns by e-mail and SMS. A Durable Object for each campaign stores its recipients.

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { types } from '../column-types.ts'

/** A campaign, with the counters its Durable Object reports. */
export const campaigns = sqliteTable('campaigns', {
  seq: integer().primaryKey(),
  id: text().notNull().unique(),
  organization_id: text().notNull(), // references organizations (id)
  edition_id: text().notNull(), // references editions (id)
  segment_id: text().notNull(), // references segments (id)
  /** The segment that the campaign was last started with, as it was then. */
  segment_snapshot: text({ mode: 'json' }).$type<typeof types.campaigns.segment_snapshot.value>(),
  name: text().notNull(),
  name_key: text().notNull(),
  search: text().notNull(),
  channel: text({ enum: types.campaigns.channel }).notNull(),
  email_message_id: text(), // references email_messages (id)
  /** The message of a finished campaign, once the message is deleted. */
  deleted_message_id: text(),
  sms_body: text({ mode: 'json' }).$type<typeof types.campaigns.sms_body.value>().notNull().default({}),
  /** Rises with each change of what is sent and to whom. An approval holds for one version. */
  content_version: integer().notNull().default(1),
  /** The account that made the last of these changes, or the campaign. */
  content_changed_by: text(),
  content_changed_at: integer(),
  /** Missing translations that were accepted when the campaign was last scheduled or sent. */
  accepted_translations: text({ mode: 'json' })
    .$type<typeof types.campaigns.accepted_translations.value>()
    .notNull()
    .default([]),
  status: text({ enum: types.campaigns.status }).notNull(),
  scheduled_at: integer(),
  /** Since when the campaign is paused; null while it is not. */
  paused_at: integer(),
  /** The days and hours in which messages go out, in local time of the edition; null for all of them. */
  send_window: text({ mode: 'json' }).$type<typeof types.campaigns.send_window.value>(),
  total_recipients: integer().notNull().default(0),
  sent_count: integer().notNull().default(0),
  failed_count: integer().notNull().default(0),
  /** Failed recipients by reason. */
  rejected_count: integer().notNull().default(0),
  unreachable_count: integer().notNull().default(0),
  rate_limited_count: integer().notNull().default(0),
  unknown_count: integer().notNull().default(0),
  skipped_count: integer().notNull().default(0),
  delivered_count: integer().notNull().default(0),
  opened_count: integer().notNull().default(0),
  clicked_count: integer().notNull().default(0),
  bounced_count: integer().notNull().default(0),
  unsubscribed_count: integer().notNull().default(0),
  user_count: integer().notNull().default(0),
  error_message: text().notNull().default(''),
  /**
   * The reason why a campaign in status `sending` waits for its provider, since when, and when the next attempt is
   * due.
   */
  waiting_reason: text(),
  waiting_since: integer(),
  next_attempt_at: integer(),
  /** Since when a campaign in status `sending` waits for its send window, and when the window opens. */
  window_waiting_since: integer(),
  window_opens_at: integer(),
  started_at: integer(),
  completed_at: integer(),
  /** The number of the last start. Reports of the Durable Object about an earlier run are ignored. */
  run: integer().notNull().default(0),
  /** The revision of the Durable Object's state that this row shows. */
  revision: integer().notNull().default(0),
  heartbeat_at: integer(),
  version: integer().notNull().default(1),
  created_at: integer().notNull(),
  modified_at: integer().notNull(),
})

/**
 * The last request for approval of each campaign, and what was decided. It holds for one content and one segment: a
 * later change of what is sent makes it outdated.
 */
export const campaignApprovals = sqliteTable('campaign_approvals', {
  campaign_id: text().primaryKey(), // references campaigns (id)
  status: text({ enum: types.campaign_approvals.status }).notNull(),
  requested_by: text().notNull(),
  requested_at: integer().notNull(),
  request_note: text(),
  decided_by: text(),
  decided_at: integer(),
  note: text(),
  /** The versions of the campaign and its message, and the names and addresses of the sender. */
  content: text({ mode: 'json' }).$type<typeof types.campaign_approvals.content.value>().notNull(),
  segment_version: integer().notNull(),
  /** The run that was started with the approval. Until the segment is calculated for it, it must not change. */
  run: integer().notNull().default(0),
})

/** The texts of a campaign as of its start, so that a repeated call to the provider sends the same messages. */
export const campaignContents = sqliteTable(
  'campaign_contents',
  {
    campaign_id: text().notNull(), // references campaigns (id)
    /** The run that stored the texts. A retry sends the texts of an earlier run. */
    run: integer().notNull(),
    language: text({ enum: types.campaign_contents.language }).notNull(),
    subject: text().notNull(),
    html: text().notNull(),
    text: text().notNull(),
    /** Positions in `campaign_links`, in the order in which the template names them. */
    links: text({ mode: 'json' }).$type<typeof types.campaign_contents.links.value>().notNull(),
    /** Positions in `campaign_conditions`, in the order in which the template numbers them. */
    conditions: text({ mode: 'json' }).$type<typeof types.campaign_contents.conditions.value>().notNull().default([]),
    /** Names and senders that all messages of the campaign share. */
    context: text({ mode: 'json' }).$type<typeof types.campaign_contents.context.value>().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.campaign_id, table.run, table.language] })],
)

/** The tracked links of a campaign. Sent messages name them by position, so rows never change. */
export const campaignLinks = sqliteTable(
  'campaign_links',
  {
    campaign_id: text().notNull(), // references campaigns (id)
    position: integer().notNull(),
    url: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.campaign_id, table.position] })],
)

/**
 * The conditions of blocks of a campaign's messages. The number that a recipient has in the campaign's object has a
 * bit for each condition that the recipient fulfils, at its position, so rows never move.
 */
export const campaignConditions = sqliteTable(
  'campaign_conditions',
  {
    campaign_id: text().notNull(), // references campaigns (id)
    position: integer().notNull(),
    expression: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.campaign_id, table.position] })],
)

/**
 * What became of a campaign for a person, and the times at which the person received, opened and clicked it, for
 * the conditions of segments and the messages of a person. Pending recipients have no row. `campaign_id` is not a
 * foreign key: a campaign that sent messages cannot be deleted, and the check would need an index that every
 * message writes to.
 */
export const campaignReceipts = sqliteTable(
  'campaign_receipts',
  {
    organization_id: text().notNull(), // references organizations (id)
    user_id: text().notNull(), // references users (id)
    campaign_id: text().notNull(),
    state: text({ enum: types.campaign_receipts.state }).notNull().default('sent'),
    /** The reason why the person was skipped or the message failed. */
    reason: text(),
    /** When the campaign reported that nothing was sent; null for a sent message. */
    missed_at: integer(),
    received_at: integer(),
    delivered_at: integer(),
    opened_at: integer(),
    clicked_at: integer(),
    bounced_at: integer(),
    complained_at: integer(),
    unsubscribed_at: integer(),
    /** Positions in `campaign_links` of the links that the person clicked; null for none. */
    clicked_links: text({ mode: 'json' }).$type<typeof types.campaign_receipts.clicked_links.value>(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.campaign_id] })],
)
