-- The audit log.

-- Entries begin their id with their time, so the key is the order of time. An empty `organization_id` stands for none.
create table audit_log (
  organization_id text not null,
  id text not null,
  edition_id text,
  action text not null,
  actor_id text not null,
  token_id text,
  resource_type text,
  resource_id text,
  -- [{field, before, after}], or [{field, is_hidden}] for secrets and contents of messages.
  changes text not null check (json_valid(changes)),
  request_id text not null,
  created_at integer not null,
  primary key (organization_id, id)
) strict, without rowid;
-- Serves the list of an organization: newest first, filtered by actor, action or resource without touching the table.
create index audit_log_by_time
  on audit_log (organization_id, created_at, id, actor_id, action, resource_type, resource_id);
