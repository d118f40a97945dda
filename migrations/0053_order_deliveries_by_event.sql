-- The key of event and endpoint begins with the event: deliveries of an event are found by it, also when the event is
-- deleted and its references are checked. A table's own key cannot be changed, so the tables are made anew.
pragma defer_foreign_keys = on;

create table webhook_deliveries_by_event (
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
  unique (event_id, endpoint_id)
) strict, without rowid;

create table webhook_attempts_by_event (
  delivery_id text not null references webhook_deliveries_by_event (id) on delete cascade,
  number integer not null,
  started_at integer not null,
  duration_ms integer not null,
  status_code integer,
  -- Why it failed; null for a success.
  error text,
  is_manual integer not null check (is_manual in (0, 1)),
  next_retry_at integer,
  next_reason text,
  response_text text,
  primary key (delivery_id, number)
) strict, without rowid;

insert into webhook_deliveries_by_event (id, endpoint_id, event_id, kind, status, attempts, step, manual,
    response_status_code, signature, signed_at, last_attempt_at, next_retry_at, lease_until, created_at, modified_at)
  select id, endpoint_id, event_id, kind, status, attempts, step, manual, response_status_code, signature, signed_at,
    last_attempt_at, next_retry_at, lease_until, created_at, modified_at from webhook_deliveries;
insert into webhook_attempts_by_event (delivery_id, number, started_at, duration_ms, status_code, error, is_manual,
    next_retry_at, next_reason, response_text)
  select delivery_id, number, started_at, duration_ms, status_code, error, is_manual, next_retry_at, next_reason,
    response_text from webhook_attempts;

-- The attempts first: a table that goes takes along what refers to it.
drop table webhook_attempts;
drop table webhook_deliveries;
alter table webhook_deliveries_by_event rename to webhook_deliveries;
alter table webhook_attempts_by_event rename to webhook_attempts;

create index webhook_deliveries_due on webhook_deliveries (next_retry_at) where status in ('pending', 'retrying');
-- Ids of events sort by the order in which they happened.
create index webhook_deliveries_open on webhook_deliveries (endpoint_id, event_id)
  where status in ('pending', 'retrying');
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, created_at, id);
create index webhook_deliveries_by_status on webhook_deliveries (endpoint_id, status, created_at, id);
create index webhook_deliveries_leased on webhook_deliveries (endpoint_id, lease_until) where lease_until is not null;
-- Attempts that somebody asked for: they are made before all others, also behind an open breaker.
create index webhook_deliveries_asked on webhook_deliveries (endpoint_id, event_id)
  where manual is not null and status in ('pending', 'retrying');
