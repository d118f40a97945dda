-- Ids begin with their time, so that the key is the order of time. An empty organization_id stands for none.
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

create index audit_log_of_resource on audit_log (organization_id, resource_id, id);
create index audit_log_of_actor on audit_log (organization_id, actor_id, id);

-- When a use of the token was last recorded that came after its end.
alter table access_tokens add column refused_at integer;
