-- Faults that should wake somebody.

-- One row per alarm that stands, or whose end is not posted yet. A sweep writes them, and posts each beginning and each
-- end to ALERT_WEBHOOK_URL.
create table alarms (
  id text primary key,
  kind text not null,
  -- The queue, the sweep or the service; empty for alarms about everything.
  subject text not null,
  -- The merchant account that fails; empty for everything else.
  resource_id text not null,
  -- A sentence about what was wrong when the alarm began.
  message text not null,
  since integer not null,
  -- The time at which the cause was first absent. Null while it is present.
  absent_since integer,
  ended_at integer,
  -- The time at which the receiver accepted the beginning.
  notified_at integer,
  -- The reason for which the last post failed.
  notification_error text,
  attempted_at integer,
  claimed_until integer
) strict, without rowid;
-- Permits one alarm at a time for each cause.
create unique index alarms_standing on alarms (kind, subject, resource_id) where ended_at is null;
