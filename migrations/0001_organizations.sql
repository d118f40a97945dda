-- Organizations, the people who work for them, and the tokens they call the API with. All times are integers:
-- milliseconds since 1970, UTC. Amounts of money are integers in minor units. Ids end in 26 characters that begin with
-- their time, so sorting by id sorts by creation. Text that is searched is folded by the service, not by SQL. Lists are
-- sorted by `name_key` and `title_key`, which the service writes with the name or title (`buildSortKey`).

-- One row per customer of this service; every other row belongs to one.
create table organizations (
  id text primary key,
  name text not null,
  name_key text not null,
  slug text not null unique,
  -- What the organization demands before a refund is approved.
  refund_policy text not null default '{}' check (json_valid(refund_policy)),
  avatar_file_id text references files (id),
  search text not null,
  -- The key of the hashes that replace order ids of erased customers. Nothing else uses it, and it is never replaced: with
  -- another key, imports would not recognise these orders.
  erasure_key text not null default (lower(hex(randomblob(32)))),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Serves the list of all organizations ordered by name.
create index organizations_by_name on organizations (name_key, id);
-- Serves the list of all organizations ordered by creation.
create index organizations_by_created on organizations (created_at, id);
-- Serves the list of all organizations ordered by last change.
create index organizations_by_modified on organizations (modified_at, id);
-- Finds what uses a file before the file is deleted.
create index organizations_by_avatar on organizations (avatar_file_id) where avatar_file_id is not null;

-- People who sign in. One account may be a member of several organizations.
create table accounts (
  id text primary key,
  email text not null unique,
  created_at integer not null,
  last_seen_at integer
) strict, without rowid;

-- Which role an account has in an organization, or in one of its editions.
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
-- An account is a member once per organization and edition.
create unique index members_once on members (organization_id, account_id, coalesce(edition_id, ''));
-- Finds the roles of the account that calls.
create index members_of_account on members (account_id);
-- Serves the list of members of an organization.
create index members_by_created on members (organization_id, created_at, id);

-- API tokens. A token ends with the token that created it and with the membership its creator acted by.
create table access_tokens (
  id text primary key,
  account_id text not null references accounts (id),
  organization_id text references organizations (id),
  parent_id text references access_tokens (id),
  minter_member_id text,
  -- How many tokens stand above this one.
  generation integer not null default 0,
  name text not null,
  name_key text not null,
  token_hash text not null unique,
  prefix text not null,
  scopes text not null,
  expires_at integer,
  revoked_at integer,
  last_used_at integer,
  -- When a use after its end was last recorded.
  refused_at integer,
  created_at integer not null
) strict, without rowid;
-- Serves the list of tokens of an account.
create index access_tokens_of_account on access_tokens (account_id, created_at, id);

-- Answers to requests that carried an `Idempotency-Key`, until they expire.
create table idempotency_keys (
  caller_id text not null,
  key_hash text not null,
  fingerprint text not null,
  claim_id text not null,
  claimed_until integer not null,
  expires_at integer not null,
  status integer,
  headers text,
  body text,
  primary key (caller_id, key_hash)
) strict, without rowid;
-- Finds expired keys, which a sweep deletes.
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
