-- Segments of customers, calculated from an expression.

-- A saved expression and the state of its calculation.
create table segments (
  seq integer primary key,
  id text not null unique,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  name text not null,
  name_key text not null,
  search text not null,
  description text not null default '',
  communication_type text not null,
  communication_channel text not null,
  expression text not null,
  -- Rises with each change of the expression, the type, the channel or the edition. An approval of a campaign holds for one
  -- version.
  content_version integer not null default 1,
  -- The account that made the last of these changes. Null: there was none.
  content_changed_by text,
  content_changed_at integer,
  is_time_dependent integer not null check (is_time_dependent in (0, 1)),
  status text not null,
  -- Each calculation has a number. The current members have `members_epoch`, and a running calculation writes `epoch`.
  epoch integer not null default 0,
  members_epoch integer not null default 0,
  -- A calculation walks through the people in a fixed order, up to the last one who existed at its start.
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
  -- A deleted segment stays, because sent campaigns still show it.
  deleted_at integer,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict;
-- Finds calculations whose heartbeat stopped.
create index segments_calculating on segments (heartbeat_at) where status = 'calculating';
-- Serves lists of an organization ordered by creation.
create index segments_by_created on segments (organization_id, created_at) where deleted_at is null;
-- Serves lists of an edition ordered by creation.
create index segments_of_edition on segments (edition_id, created_at)
  where deleted_at is null and edition_id is not null;
-- Finds deleted segments whose expression names an erased person.
create index segments_deleted on segments (organization_id) where deleted_at is not null;

-- People for whom the expression holds. `excluded_for` is null for members, and otherwise why the person is excluded.
create table segment_members (
  segment_seq integer not null,
  epoch integer not null,
  user_seq integer not null,
  excluded_for text,
  primary key (segment_seq, epoch, user_seq)
) strict, without rowid;

-- Who exported personal data, when, and which columns.
create table segment_exports (
  id text primary key,
  segment_id text not null references segments (id),
  organization_id text not null references organizations (id),
  -- The account that exported, or `root`.
  caller_id text not null,
  request_id text not null,
  columns text not null check (json_valid(columns)),
  user_count integer not null,
  created_at integer not null
) strict, without rowid;
-- Serves the exports of a segment.
create index segment_exports_of_segment on segment_exports (segment_id, created_at);

-- Sets of members that another set replaced. They stay readable for an hour, then a sweep deletes them in slices.
create table segment_leftovers (
  segment_seq integer not null,
  epoch integer not null,
  left_at integer not null,
  primary key (segment_seq, epoch)
) strict, without rowid;
-- Finds leftovers that are an hour old.
create index segment_leftovers_by_age on segment_leftovers (left_at);
