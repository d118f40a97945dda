-- What an edition's fields point to. Fee rules and merchant accounts are kept by the platform's operator.

create table fee_rules (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  description text not null default '',
  currency text not null,
  is_active integer not null default 1 check (is_active in (0, 1))
) strict, without rowid;

create index fee_rules_of_organization on fee_rules (organization_id);

create table merchant_accounts (
  id text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  description text not null default '',
  type text not null,
  supported_currencies text not null check (json_valid(supported_currencies))
) strict, without rowid;

create index merchant_accounts_of_organization on merchant_accounts (organization_id);

create table email_messages (
  id text primary key,
  organization_id text references organizations (id),
  edition_id text references editions (id),
  title text not null,
  subject text not null default '{}' check (json_valid(subject)),
  type text not null,
  scope text not null,
  template text not null default 'modern',
  is_locked integer not null default 0 check (is_locked in (0, 1)),
  blocks text not null default '[]' check (json_valid(blocks)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index email_messages_by_created on email_messages (organization_id, created_at, id);
create index email_messages_by_type on email_messages (organization_id, type);

create table files (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text references editions (id),
  name text not null,
  purpose text not null,
  mime_type text not null,
  size integer not null,
  access_key text not null,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;

create index files_by_created on files (organization_id, created_at, id);
