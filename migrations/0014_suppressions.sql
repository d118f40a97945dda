-- Addresses that must not be written to.

-- Addresses that receive nothing but what the law demands. `address` is written as in `users`: a lower-case e-mail
-- address or an E.164 number.
create table suppressions (
  id text not null default ('sup_' || hex(randomblob(13))),
  organization_id text not null references organizations (id),
  channel text not null,
  address text not null,
  reason text not null,
  detail text not null default '',
  campaign_id text,
  created_at integer not null,
  primary key (organization_id, channel, address)
) strict, without rowid;
-- Finds a suppression by its id.
create unique index suppressions_by_id on suppressions (id);
-- Serves lists ordered by creation.
create index suppressions_by_created on suppressions (organization_id, created_at, id, channel, reason);

-- Suppressed addresses of erased customers, hashed. They are suppressed again when the customer comes back.
create table suppression_hashes (
  organization_id text not null references organizations (id),
  channel text not null,
  address_hash text not null,
  reason text not null,
  created_at integer not null,
  primary key (organization_id, channel, address_hash)
) strict, without rowid;

-- Addresses that refused one message and may take another: one row per message, however often it is reported.
create table soft_bounces (
  organization_id text not null references organizations (id),
  channel text not null,
  address text not null,
  reference text not null,
  bounced_at integer not null,
  primary key (organization_id, channel, address, reference)
) strict, without rowid;
