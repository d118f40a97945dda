-- People who sign in, their roles, and the tokens they call the API with.

-- People who sign in. One account may be a member of several organizations.
create table accounts (
  id text primary key,
  email text not null unique,
  created_at integer not null,
  last_seen_at integer
) strict, without rowid;

-- The role that an account has in an organization, or in one of its editions.
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

-- API tokens and sessions. A token ends with the token that created it and with the membership its creator acted by.
-- A token that was created in a session does not end with the session.
create table access_tokens (
  id text primary key,
  account_id text not null references accounts (id),
  organization_id text references organizations (id),
  parent_id text references access_tokens (id),
  minter_member_id text,
  -- The number of tokens above this one.
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
  is_session integer not null default 0 check (is_session in (0, 1)),
  -- When the person of a session signed in. Null if the identity provider does not say it.
  signed_in_at integer,
  created_at integer not null
) strict, without rowid;
-- Serves the list of tokens of an account.
create index access_tokens_of_account on access_tokens (account_id, created_at, id);
-- Serves the list of the tokens that work in one organization only.
create index access_tokens_of_organization on access_tokens (organization_id, created_at, id)
  where organization_id is not null;
-- Finds the tokens of a token, which SQLite asks for before it deletes one.
create index access_tokens_of_parent on access_tokens (parent_id) where parent_id is not null;
-- Finds old sessions, which a sweep deletes.
create index access_tokens_of_sessions on access_tokens (expires_at) where is_session = 1;

-- Codes to sign in with, which are sent by e-mail. An address that no member has gets a row too, so that all addresses
-- are answered alike. A code follows from the key of the Worker, the id and the salt, and is not stored.
create table sign_in_codes (
  id text primary key,
  -- Null if no member has the address.
  account_id text references accounts (id),
  -- Keyed hashes, which count the codes of an hour.
  address_hash text not null,
  network_hash text,
  salt text not null,
  tries integer not null default 0,
  used_at integer,
  expires_at integer not null,
  created_at integer not null
) strict, without rowid;
-- Counts the codes of an address.
create index sign_in_codes_of_address on sign_in_codes (address_hash, created_at);
-- Counts the codes that a network has requested.
create index sign_in_codes_of_network on sign_in_codes (network_hash, created_at) where network_hash is not null;

-- Links that sign a member in once.
create table sign_in_links (
  id text primary key,
  member_id text not null,
  secret_hash text not null unique,
  used_at integer,
  expires_at integer not null,
  created_at integer not null
) strict, without rowid;
