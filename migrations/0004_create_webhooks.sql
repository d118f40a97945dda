create table webhook_endpoints (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  name text not null,
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
  -- Since when nothing but failures came back, and how many in a row; a success clears both.
  failing_since integer,
  failures_in_row integer not null default 0,
  -- An open breaker: deliveries wait until then, and then a single one probes.
  breaker_until integer,
  -- The last request ended by its timeout, or took longer than a fast lane bears.
  is_slow integer not null default 0 check (is_slow in (0, 1)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index webhook_endpoints_by_created on webhook_endpoints (organization_id, created_at, id);

-- What happened, once, in the very bytes that every endpoint receives.
create table webhook_events (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  kind text not null,
  payload text not null,
  created_at integer not null
) strict, without rowid;

create table webhook_deliveries (
  id text primary key,
  endpoint_id text not null references webhook_endpoints (id) on delete cascade,
  event_id text not null references webhook_events (id),
  kind text not null,
  status text not null,
  attempts integer not null default 0,
  -- Position in the retry schedule: a manual retry counts as an attempt and not as a step.
  step integer not null default 0,
  -- The attempt that is due was asked for: beside the schedule, or alone, after the schedule has ended.
  manual text check (manual in ('extra', 'alone')),
  response_status_code integer,
  signature text,
  signed_at integer,
  last_attempt_at integer,
  next_retry_at integer,
  lease_until integer,
  created_at integer not null,
  modified_at integer not null,
  unique (endpoint_id, event_id)
) strict, without rowid;

create index webhook_deliveries_due on webhook_deliveries (next_retry_at) where status in ('pending', 'retrying');
-- Ids of events sort by the order in which they happened.
create index webhook_deliveries_open on webhook_deliveries (endpoint_id, event_id)
  where status in ('pending', 'retrying');
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, created_at, id);
create index webhook_deliveries_by_status on webhook_deliveries (endpoint_id, status, created_at, id);
create index webhook_deliveries_leased on webhook_deliveries (endpoint_id, lease_until) where lease_until is not null;

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
  primary key (delivery_id, number)
) strict, without rowid;

-- Messages that no consumer could take: our own faults, kept for whoever mends them.
create table dead_messages (
  id text primary key,
  queue text not null,
  body text not null,
  created_at integer not null
) strict, without rowid;
