-- Webhook endpoints, events, and their deliveries.

-- Where an organization wants events posted.
create table webhook_endpoints (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  name text not null,
  name_key text not null,
  url text not null,
  events text not null check (json_valid(events)),
  is_active integer not null default 1 check (is_active in (0, 1)),
  timeout_seconds integer not null default 0 check (timeout_seconds >= 0),
  secret text not null,
  -- Signs beside `secret` until `previous_secret_until`.
  previous_secret text,
  previous_secret_until integer,
  disabled_at integer,
  disabled_reason text,
  -- When the current series of failures began, and how long it is. A success clears both.
  failing_since integer,
  -- The fault of the endpoint, and when a failed delivery is attempted next.
  failing_reason text,
  next_attempt_at integer,
  failures_in_row integer not null default 0,
  -- While the breaker is open, deliveries wait until then; after it a single one probes.
  breaker_until integer,
  -- True if the last request took three seconds or timed out. Requests leave such endpoints to the queue.
  is_slow integer not null default 0 check (is_slow in (0, 1)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves the list of endpoints.
create index webhook_endpoints_by_created on webhook_endpoints (organization_id, created_at, id);

-- Finds endpoints that fail.
create index webhook_endpoints_failing on webhook_endpoints (failing_since) where failing_since is not null;

-- Events, once each, in the exact bytes that every endpoint receives.
create table webhook_events (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  kind text not null,
  payload text not null,
  -- The ids of the resources that the event is about, each between two spaces.
  resource_ids text not null default '',
  -- The place of the event in the order of the commits of its organization. Null: it tests an endpoint, and no list has it.
  seq integer,
  -- What happened, where its source reports it more than once; null where the transaction of the change tells.
  dedup_key text,
  created_at integer not null
) strict, without rowid;
-- Serves the list and the streams of events, numbers new events, and finds events by a resource.
create index webhook_events_by_commit on webhook_events
  (organization_id, seq, id, edition_id, kind, created_at, resource_ids) where seq is not null;
-- Stores an event once, however often its source reports it.
create unique index webhook_events_once on webhook_events (dedup_key) where dedup_key is not null;

-- Clients learn from it that events were deleted before they read them.
create table webhook_event_expiries (
  organization_id text primary key references organizations (id),
  -- The largest `seq` of its deleted events.
  seq integer not null
) strict, without rowid;

-- Open streams of events. A stream renews its claim, so one that crashed ends with it.
create table webhook_streams (
  -- The access token, or the account of a caller without one.
  holder_id text not null,
  id text not null,
  organization_id text not null references organizations (id),
  claimed_until integer not null,
  primary key (holder_id, id)
) strict, without rowid;
-- Counts the streams of an organization.
create index webhook_streams_of_organization on webhook_streams (organization_id);

-- One row per event and endpoint. The unique key begins with the event, so deleting an event finds its deliveries.
create table webhook_deliveries (
  id text primary key,
  endpoint_id text not null references webhook_endpoints (id) on delete cascade,
  event_id text not null references webhook_events (id),
  -- The edition of the event, which never changes. It decides who sees the delivery.
  edition_id text,
  kind text not null,
  status text not null,
  attempts integer not null default 0,
  -- Position in the retry schedule. A manual retry counts as an attempt and not as a step.
  step integer not null default 0,
  -- The next attempt was asked for: `extra` beside the schedule, `alone` after the schedule has ended.
  manual text check (manual in ('extra', 'alone')),
  response_status_code integer,
  signature text,
  signed_at integer,
  last_attempt_at integer,
  -- The last attempt, as JSON. It moves to `webhook_attempts` when the next one is recorded.
  last_attempt text,
  next_retry_at integer,
  claimed_until integer,
  created_at integer not null,
  modified_at integer not null,
  unique (event_id, endpoint_id)
) strict, without rowid;
-- Counts the requests to an endpoint that are in flight, and finds claims that are over.
create index webhook_deliveries_claimed on webhook_deliveries (endpoint_id, claimed_until)
  where claimed_until is not null;
-- Finds manual retries, which go first and even while a breaker is open.
create index webhook_deliveries_manual on webhook_deliveries (endpoint_id, event_id)
  where manual is not null and status in ('pending', 'retrying');
-- Finds the endpoints for which a delivery is due.
create index webhook_deliveries_due on webhook_deliveries (next_retry_at)
  where status in ('pending', 'retrying') and claimed_until is null;
-- Finds the next deliveries of an endpoint in the order of their events, whose ids sort by time.
create index webhook_deliveries_open on webhook_deliveries (endpoint_id, event_id)
  where status in ('pending', 'retrying') and claimed_until is null;
-- Serves lists of an endpoint and, endpoint by endpoint, of an organization, and counts the successes of a day: newest
-- first in its own order, other orderings sorted from what it holds. It runs downwards,
-- because SQLite sorts the latest changes three times as fast when it meets them first.
create index webhook_deliveries_of_endpoint on webhook_deliveries
  (endpoint_id, created_at desc, id desc, status, edition_id, kind, modified_at, response_status_code);

-- Attempts of a delivery before its last one, which stands in `webhook_deliveries.last_attempt`.
create table webhook_attempts (
  delivery_id text not null references webhook_deliveries (id) on delete cascade,
  number integer not null,
  started_at integer not null,
  duration_ms integer not null,
  status_code integer,
  -- Why it failed; null for a success.
  error text,
  is_manual integer not null check (is_manual in (0, 1)),
  next_retry_at integer,
  next_reason text,
  -- The beginning of what the receiver answered, as plain text.
  response_text text,
  primary key (delivery_id, number)
) strict, without rowid;
