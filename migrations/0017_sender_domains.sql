-- Domains that e-mails are sent from.

-- Domains an organization may send from. Several organizations may ask for a domain; at most one has it verified.
create table sender_domains (
  id text primary key,
  organization_id text not null references organizations (id),
  -- In lower case, without a dot at the end.
  domain text not null,
  status text not null,
  -- The value that the TXT record has to contain.
  token text not null,
  verified_at integer,
  verified_by text,
  checked_at integer,
  check_outcome text,
  -- The domain at the provider that sends, and the DNS records that it wants.
  provider_domain_id text,
  provider_records text not null default '[]' check (json_valid(provider_records)),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null,
  unique (organization_id, domain)
) strict, without rowid;
-- A domain is verified for one organization.
create unique index sender_domains_verified on sender_domains (domain) where status = 'verified';
-- Serves lists ordered by creation.
create index sender_domains_by_created on sender_domains (organization_id, created_at, id);
