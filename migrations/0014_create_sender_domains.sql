-- Domains whose addresses an organisation may send from. Several organisations may ask for one; one at most has it.
create table sender_domains (
  id text primary key,
  organization_id text not null references organizations (id),
  -- In lower case, as the name system spells it, without a dot at the end.
  domain text not null,
  status text not null,
  -- What the TXT record has to say.
  token text not null,
  verified_at integer,
  verified_by text,
  checked_at integer,
  check_outcome text,
  -- The domain at the provider that sends, and the records that it wants.
  provider_domain_id text,
  provider_records text not null default '[]' check (json_valid(provider_records)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  unique (organization_id, domain)
) strict, without rowid;

create unique index sender_domains_verified on sender_domains (domain) where status = 'verified';
create index sender_domains_by_created on sender_domains (organization_id, created_at, id);

-- What the capture gateway of the name system answers: development and tests only.
create table captured_dns_records (
  name text not null,
  value text not null,
  primary key (name, value)
) strict, without rowid;
