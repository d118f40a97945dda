-- Definitions of consents. What a person was shown is kept by version, and what they answered is only ever added to.
create table consents (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  -- The definition that this one was copied from.
  origin_id text,
  key text not null,
  name text not null,
  title text not null default '{}' check (json_valid(title)),
  text text not null default '{}' check (json_valid(text)),
  link_url text not null default '{}' check (json_valid(link_url)),
  type text not null,
  channels text not null default '[]' check (json_valid(channels)),
  legal_basis text not null default 'consent',
  is_required integer not null default 0 check (is_required in (0, 1)),
  is_active integer not null default 1 check (is_active in (0, 1)),
  collect_at text not null default '[]' check (json_valid(collect_at)),
  position integer not null default 0,
  expires_after_days integer,
  reconsent_on_change integer not null default 0 check (reconsent_on_change in (0, 1)),
  wording_version integer not null default 1,
  content_hash text not null default '',
  metadata text not null default '{}' check (json_valid(metadata)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create unique index consents_by_key on consents (organization_id, coalesce(edition_id, ''), key);
create index consents_of_edition on consents (edition_id) where edition_id is not null;

create table consent_versions (
  consent_id text not null references consents (id),
  version integer not null,
  title text not null check (json_valid(title)),
  text text not null check (json_valid(text)),
  link_url text not null check (json_valid(link_url)),
  legal_basis text not null,
  content_hash text not null,
  created_at integer not null,
  primary key (consent_id, version)
) strict, without rowid;

create table consent_records (
  id text primary key,
  organization_id text not null references organizations (id),
  consent_id text not null references consents (id),
  consent_version integer not null,
  content_hash text not null,
  edition_id text references editions (id),
  user_id text not null references users (id),
  order_id text,
  status text not null,
  method text not null,
  source text not null,
  language text not null,
  occurred_at integer not null,
  expires_at integer,
  previous_record_id text,
  -- Of this record and the hash of the one before: a chain that shows when a record was changed later.
  record_hash text not null,
  is_latest integer not null check (is_latest in (0, 1))
) strict, without rowid;

create unique index consent_records_latest on consent_records (user_id, consent_id) where is_latest = 1;
create index consent_records_of_consent on consent_records (consent_id, status) where is_latest = 1;

-- Addresses that nothing but what the law demands is sent to; `address` as in users: lower-cased e-mail, or E.164.
create table suppressions (
  organization_id text not null references organizations (id),
  channel text not null,
  address text not null,
  reason text not null,
  detail text not null default '',
  campaign_id text,
  created_at integer not null,
  primary key (organization_id, channel, address)
) strict, without rowid;

create table segments (
  seq integer primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  name text not null,
  search text not null,
  description text not null default '',
  communication_type text not null,
  communication_channel text not null,
  expression text not null,
  is_time_dependent integer not null check (is_time_dependent in (0, 1)),
  status text not null,
  -- Each calculation has a number; members of the one that is shown carry `members_epoch`, a running one writes `epoch`.
  epoch integer not null default 0,
  members_epoch integer not null default 0,
  -- A calculation walks through the people in the order of their ids, up to the last that was there when it began.
  cursor_id text not null default '',
  last_id text not null default '',
  walked_count integer not null default 0,
  population_count integer not null default 0,
  matched_count integer not null default 0,
  user_count integer not null default 0,
  excluded text not null default '{}' check (json_valid(excluded)),
  calculated_at integer,
  calculation_started_at integer,
  heartbeat_at integer,
  error_message text not null default '',
  -- Campaigns that were sent keep showing the segment they went to, so its row stays.
  deleted_at integer,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict;

create index segments_by_created on segments (organization_id, created_at, seq) where deleted_at is null;
create index segments_of_edition on segments (edition_id, created_at, seq)
  where deleted_at is null and edition_id is not null;
create index segments_calculating on segments (heartbeat_at) where status = 'calculating';

-- Everyone whom the expression holds for; `excluded_for` says why one of them gets nothing.
create table segment_members (
  segment_seq integer not null,
  epoch integer not null,
  user_seq integer not null,
  excluded_for text,
  primary key (segment_seq, epoch, user_seq)
) strict, without rowid;

create table campaigns (
  seq integer primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  segment_id text not null references segments (id),
  name text not null,
  search text not null,
  channel text not null,
  email_message_id text references email_messages (id),
  sms_body text not null default '{}' check (json_valid(sms_body)),
  status text not null,
  scheduled_at integer,
  total_recipients integer not null default 0,
  sent_count integer not null default 0,
  failed_count integer not null default 0,
  skipped_count integer not null default 0,
  delivered_count integer not null default 0,
  opened_count integer not null default 0,
  clicked_count integer not null default 0,
  bounced_count integer not null default 0,
  unsubscribed_count integer not null default 0,
  user_count integer not null default 0,
  error_message text not null default '',
  started_at integer,
  completed_at integer,
  -- Each start has a number: what the campaign's object tells of an earlier one counts no more.
  run integer not null default 0,
  -- The number of the state of the campaign's object that this row shows.
  revision integer not null default 0,
  heartbeat_at integer,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict;

create index campaigns_by_created on campaigns (organization_id, created_at, seq);
create index campaigns_of_edition on campaigns (edition_id, created_at, seq);
create index campaigns_of_segment on campaigns (segment_id);
create index campaigns_of_message on campaigns (email_message_id) where email_message_id is not null;
create index campaigns_due on campaigns (scheduled_at) where status = 'scheduled';
create index campaigns_running on campaigns (heartbeat_at) where status in ('calculating', 'sending');

-- What an edition does by itself: which message goes out for what.
create table triggers (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  kind text not null,
  channel text not null,
  email_message_id text references email_messages (id),
  is_active integer not null default 1 check (is_active in (0, 1)),
  created_at integer not null,
  modified_at integer not null,
  unique (edition_id, kind, channel)
) strict, without rowid;

create index triggers_of_message on triggers (email_message_id) where email_message_id is not null;
