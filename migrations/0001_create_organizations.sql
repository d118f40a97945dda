-- Times are integer milliseconds UTC. Text that is searched is folded by the service, not by SQL.

create table organizations (
  id text primary key,
  name text not null,
  slug text not null unique,
  version integer not null default 1,
  search text not null,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index organizations_by_name on organizations (name, id);
create index organizations_by_created on organizations (created_at, id);
create index organizations_by_modified on organizations (modified_at, id);

create table accounts (
  id text primary key,
  email text not null unique,
  created_at integer not null,
  last_seen_at integer
) strict, without rowid;

create table events (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  search text not null,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index events_by_name on events (organization_id, name, id);
create index events_by_created on events (organization_id, created_at, id);

create table editions (
  id text primary key,
  organization_id text not null references organizations (id),
  event_id text not null references events (id),
  name text not null,
  full_name text not null,
  slug text not null,
  start_at integer,
  end_at integer,
  timezone text not null,
  default_country_code text not null,
  is_draft integer not null default 1 check (is_draft in (0, 1)),
  is_archived integer not null default 0 check (is_archived in (0, 1)),
  published_at integer,
  default_language text not null,
  enabled_languages text not null check (json_valid(enabled_languages)),
  tax_type text not null,
  default_price_tax_rate real not null default 0,
  default_deposit_tax_rate real not null default 0,
  default_packaging_deposit_tax_rate real not null default 0,
  currency text not null,
  fee_rule_id text,
  merchant_account_id text,
  merchant_account_extra_parameters text not null default '{}',
  merchant_id text not null default '{}',
  metadata text not null default '{}',
  sms_sender_name text not null default 'Unset',
  email_sender_name text,
  email_sender_address text,
  email_reply_to text,
  meta_title text not null default '{}',
  meta_description text not null default '{}',
  meta_image_id text,
  transaction_receipt_email_id text,
  refund_confirmation_email_id text,
  search text not null,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  unique (organization_id, slug)
) strict, without rowid;

create index editions_by_created on editions (organization_id, is_archived, created_at, id);

create table members (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  account_id text not null references accounts (id),
  role text not null check (role in ('admin', 'manager', 'viewer')),
  first_name text not null,
  last_name text not null,
  created_at integer not null
) strict, without rowid;

create unique index members_once on members (organization_id, account_id, coalesce(edition_id, ''));
create index members_of_account on members (account_id);
create index members_by_created on members (organization_id, created_at, id);

create table access_tokens (
  id text primary key,
  account_id text not null references accounts (id),
  organization_id text references organizations (id),
  name text not null,
  token_hash text not null unique,
  shown text not null,
  scopes text not null,
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  last_used_at integer
) strict, without rowid;

create index access_tokens_of_account on access_tokens (account_id, created_at, id);

create table idempotency_keys (
  caller_id text not null,
  key_hash text not null,
  fingerprint text not null,
  lease_id text not null,
  lease_until integer not null,
  expires_at integer not null,
  status integer,
  headers text,
  body text,
  primary key (caller_id, key_hash)
) strict, without rowid;

create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
