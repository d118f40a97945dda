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

-- An erased customer has no address, and an id in place of a number: `users` wants one of the two.
alter table users add column erased_at integer;

create table erasures (
  id text primary key,
  organization_id text not null references organizations (id),
  user_id text not null unique references users (id),
  user_seq integer not null,
  reason text not null default '',
  -- Of an account, or `root`.
  caller_id text not null,
  -- [[channel, address]] that the passes look for; empty once the erasure is complete.
  addresses text not null check (json_valid(addresses)),
  -- Two passes: the second finds what was being written while the first went on.
  pass integer not null default 1,
  campaign_after integer not null default 0,
  event_after text not null,
  next_step_at integer,
  completed_at integer,
  created_at integer not null
) strict, without rowid;

create index erasures_due on erasures (next_step_at) where next_step_at is not null;

-- Suppressed addresses of erased customers: they are suppressed again when they come back.
create table suppression_hashes (
  organization_id text not null references organizations (id),
  channel text not null,
  address_hash text not null,
  reason text not null,
  created_at integer not null,
  primary key (organization_id, channel, address_hash)
) strict, without rowid;

create index transactional_emails_of_user on transactional_emails (user_id);
