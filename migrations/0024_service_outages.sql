-- Services that fail now.

-- One row per provider or endpoint that something waits for. A sweep writes them, so that the log says once when a failure
-- begins and once when it ends.
create table service_outages (
  service text not null,
  -- The endpoint or merchant account that fails; empty for the providers of this service.
  resource_id text not null,
  reason text not null,
  since integer not null,
  next_attempt_at integer,
  primary key (service, resource_id)
) strict, without rowid;
