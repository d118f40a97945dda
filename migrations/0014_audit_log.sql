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
-- Serves the history of a resource.
create index audit_log_of_resource on audit_log (organization_id, resource_id, id);
-- Serves lists of one action or kind of resource.
create index audit_log_of_action on audit_log (organization_id, coalesce(resource_type, '-') || ' ' || action, id);
-- Serves lists of one actor, and of its actions.
create index audit_log_of_actor on audit_log (organization_id, actor_id, coalesce(resource_type, '-') || ' ' || action, id);
