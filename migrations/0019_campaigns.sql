-- Campaigns by e-mail and SMS. A Durable Object for each campaign stores its recipients.

-- A campaign, with the counters its Durable Object reports.
create table campaigns (
  seq integer primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  segment_id text not null references segments (id),
  -- The segment that the campaign was last started with, as it was then.
  segment_snapshot text check (json_valid(segment_snapshot)),
  name text not null,
  name_key text not null,
  search text not null,
  channel text not null,
  email_message_id text references email_messages (id),
  -- The message of a finished campaign, once the message is deleted.
  deleted_message_id text,
  sms_body text not null default '{}' check (json_valid(sms_body)),
  -- Rises with each change of what is sent and to whom. An approval holds for one version.
  content_version integer not null default 1,
  -- The account that made the last of these changes, or the campaign.
  content_changed_by text,
  content_changed_at integer,
  -- Missing translations that were accepted when the campaign was last scheduled or sent.
  accepted_translations text not null default '[]' check (json_valid(accepted_translations)),
  status text not null,
  scheduled_at integer,
  -- Since when the campaign is paused; null while it is not.
  paused_at integer,
  -- The days and hours in which messages go out, in local time of the edition; null for all of them.
  send_window text check (json_valid(send_window)),
  total_recipients integer not null default 0,
  sent_count integer not null default 0,
  failed_count integer not null default 0,
  -- Failed recipients by reason.
  rejected_count integer not null default 0,
  unreachable_count integer not null default 0,
  rate_limited_count integer not null default 0,
  unknown_count integer not null default 0,
  skipped_count integer not null default 0,
  delivered_count integer not null default 0,
  opened_count integer not null default 0,
  clicked_count integer not null default 0,
  bounced_count integer not null default 0,
  unsubscribed_count integer not null default 0,
  user_count integer not null default 0,
  error_message text not null default '',
  -- The reason why a campaign in status `sending` waits for its provider, since when, and when the next attempt is due.
  waiting_reason text,
  waiting_since integer,
  next_attempt_at integer,
  -- Since when a campaign in status `sending` waits for its send window, and when the window opens.
  window_waiting_since integer,
  window_opens_at integer,
  started_at integer,
  completed_at integer,
  -- The number of the last start. Reports of the Durable Object about an earlier run are ignored.
  run integer not null default 0,
  -- The revision of the Durable Object's state that this row shows.
  revision integer not null default 0,
  heartbeat_at integer,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict;
-- Finds the campaigns of a segment before the segment changes or is deleted.
create index campaigns_of_segment on campaigns (segment_id);
-- Finds the campaigns of a message before the message is deleted.
create index campaigns_of_message on campaigns (email_message_id) where email_message_id is not null;
-- Finds scheduled campaigns that are due.
create index campaigns_due on campaigns (scheduled_at) where status = 'scheduled' and paused_at is null;
-- Finds campaigns whose heartbeat stopped.
create index campaigns_running on campaigns (heartbeat_at)
  where status in ('calculating', 'sending') and paused_at is null;
-- Serves lists of an organization ordered by creation.
create index campaigns_by_created on campaigns (organization_id, created_at);
-- Serves lists of an edition ordered by creation.
create index campaigns_of_edition on campaigns (edition_id, created_at);

-- The last request for approval of each campaign, and what was decided. It holds for one content and one segment: a later
-- change of what is sent makes it outdated.
create table campaign_approvals (
  campaign_id text primary key references campaigns (id) on delete cascade,
  status text not null,
  requested_by text not null,
  requested_at integer not null,
  request_note text,
  decided_by text,
  decided_at integer,
  note text,
  -- The versions of the campaign and its message, and the names and addresses of the sender.
  content text not null check (json_valid(content)),
  segment_version integer not null,
  -- The run that was started with the approval. Until the segment is calculated for it, it must not change.
  run integer not null default 0
) strict, without rowid;

-- The texts of a campaign as of its start, so that a repeated call to the provider sends the same messages.
create table campaign_contents (
  campaign_id text not null references campaigns (id) on delete cascade,
  -- The run that stored the texts. A retry sends the texts of an earlier run.
  run integer not null,
  language text not null,
  subject text not null,
  html text not null,
  text text not null,
  -- Positions in `campaign_links`, in the order in which the template names them.
  links text not null check (json_valid(links)),
  -- Positions in `campaign_conditions`, in the order in which the template numbers them.
  conditions text not null default '[]' check (json_valid(conditions)),
  -- Names and senders that all messages of the campaign share.
  context text not null check (json_valid(context)),
  created_at integer not null,
  primary key (campaign_id, run, language)
) strict, without rowid;

-- The tracked links of a campaign. Sent messages name them by position, so rows never change.
create table campaign_links (
  campaign_id text not null references campaigns (id) on delete cascade,
  position integer not null,
  url text not null,
  primary key (campaign_id, position)
) strict, without rowid;

-- The conditions of blocks of a campaign's messages. The number that a recipient has in the campaign's object has a bit
-- for each condition that the recipient fulfils, at its position, so rows never move.
create table campaign_conditions (
  campaign_id text not null references campaigns (id) on delete cascade,
  position integer not null,
  expression text not null,
  primary key (campaign_id, position)
) strict, without rowid;

-- What became of a campaign for a person, and the times at which the person received, opened and clicked it, for the
-- conditions of segments and the messages of a person. Pending recipients have no row. `campaign_id` is not
-- a foreign key: a campaign that sent messages cannot be deleted, and the check would need an index that every message
-- writes to.
create table campaign_receipts (
  organization_id text not null references organizations (id),
  user_id text not null references users (id),
  campaign_id text not null,
  state text not null default 'sent',
  -- The reason why the person was skipped or the message failed.
  reason text,
  -- When the campaign reported that nothing was sent; null for a sent message.
  missed_at integer,
  received_at integer,
  delivered_at integer,
  opened_at integer,
  clicked_at integer,
  bounced_at integer,
  complained_at integer,
  unsubscribed_at integer,
  -- Positions in `campaign_links` of the links that the person clicked; null for none.
  clicked_links text check (json_valid(clicked_links)),
  primary key (user_id, campaign_id)
) strict, without rowid;
