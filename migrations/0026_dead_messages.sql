-- Queue messages that failed.

-- Queue messages that no consumer could process. They are faults of this service, stored for whoever fixes them.
create table dead_messages (
  id text primary key,
  queue text not null,
  body text not null,
  created_at integer not null
) strict, without rowid;
