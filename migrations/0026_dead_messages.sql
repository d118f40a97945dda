-- Queue messages that failed.

-- Queue messages that no consumer could process. They are faults of this service, stored for whoever fixes them.
create table dead_messages (
  id text primary key,
  queue text not null,
  body text not null check (json_valid(body)),
  -- The error of the last attempt. Null when the consumer could not store the message, and the platform moved it.
  error text,
  -- When the superuser put it back into its queue.
  retried_at integer,
  created_at integer not null
) strict, without rowid;
-- Serves the list: newest first, filtered by queue and by whether a message was retried.
create index dead_messages_by_time on dead_messages (created_at, id, queue, retried_at);
-- Serves the alarms: the oldest message of each queue that was not retried.
create index dead_messages_waiting on dead_messages (queue, created_at) where retried_at is null;
